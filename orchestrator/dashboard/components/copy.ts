// Small things a reader takes away: text for the clipboard, a file to save.

/** Puts text on the clipboard and says so on the button that was pressed. */
export async function copyText(event: Event, text: string): Promise<void> {
  const button = event.currentTarget as HTMLButtonElement;
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Cannot copy";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 1_500);
}

/** Saves text as a file, without a server. */
export function saveText(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** One CSV field by RFC 4180; a leading sign of a formula is defused for spreadsheets. */
export function csvField(value: string | number | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
