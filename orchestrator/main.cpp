// The composition root.
int main() { return 2; }
