// What went wrong with a request, in a form that a view can show.

/** An application/problem+json answer (RFC 9457), or what stands in for one when none came. */
export class Problem extends Error {
  constructor(
    /** HTTP status; 0 when the server could not be reached. */
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    /** JSON pointer to the wrong field of the request, where the server named one. */
    readonly pointer?: string,
  ) {
    super(detail === "" ? title : `${title}: ${detail}`);
    this.name = "Problem";
  }

  get unreachable(): boolean {
    return this.status === 0;
  }
}

export async function problemOf(response: Response): Promise<Problem> {
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  const fields = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string): string | undefined => {
    const value = fields[name];
    return typeof value === "string" ? value : undefined;
  };
  const title = text("title") ?? response.statusText;
  return new Problem(response.status, title || `status ${response.status}`, text("detail") ?? "", text("pointer") ?? text("field"));
}

export function unreachable(thrown: unknown): Problem {
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return new Problem(0, "The server cannot be reached", detail);
}
