export declare const generated: Record<string, string>;
export declare function typesOf(schema: string): Promise<string>;
