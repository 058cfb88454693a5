// A run's live events (server-sent), kept in a bounded picture of what has happened so far.

export interface LiveBlock {
  arm: string;
  warmup: { wall_ms: number; loss: number }[];
  steps: { wall_ms: number; loss: number }[];
}

export interface RunPicture {
  state?: string;
  phase?: string;
  arm?: string;
  arm_index: number;
  arm_count: number;
  receipt_id?: string;
  verdict?: string;
  asked?: number;
  /** By place in the plan; holes where a reader came late. */
  blocks: LiveBlock[];
  log: string[];
  /** Events that the server no longer had when this reader came back. */
  missed: number;
}

/** Log lines kept; the whole log is in the receipt. */
const max_log_lines = 500;

export function emptyPicture(): RunPicture {
  return { arm_index: 0, arm_count: 0, blocks: [], log: [], missed: 0 };
}

type Fields = Record<string, unknown>;

/** The picture after one event. Fields of the wrong type are ignored: an event is a report, not a command. */
export function applyEvent(picture: RunPicture, kind: string, data: unknown): RunPicture {
  if (typeof data !== "object" || data === null) return picture;
  const fields = data as Fields;
  switch (kind) {
    case "state":
    case "arm":
    case "done":
      return applyState(picture, fields);
    case "steps":
      return applySteps(picture, fields);
    case "log": {
      const line = `${text(fields["level"]) ?? "info"}: ${text(fields["message"]) ?? ""}`;
      return { ...picture, log: [...picture.log, line].slice(-max_log_lines) };
    }
    case "gap":
      return { ...picture, missed: picture.missed + (number(fields["missed"]) ?? 0) };
    default:
      return picture;
  }
}

function applyState(picture: RunPicture, fields: Fields): RunPicture {
  const next = { ...picture };
  for (const name of ["state", "phase", "arm", "receipt_id", "verdict"] as const) {
    const value = text(fields[name]);
    if (value !== undefined) next[name] = value;
  }
  next.arm_index = number(fields["arm_index"]) ?? picture.arm_index;
  next.arm_count = number(fields["arm_count"]) ?? picture.arm_count;
  return next;
}

function applySteps(picture: RunPicture, fields: Fields): RunPicture {
  const index = number(fields["arm_index"]) ?? picture.arm_index;
  const first = number(fields["first"]) ?? 0;
  const wall_ms = numbers(fields["wall_ms"]);
  const loss = numbers(fields["loss"]);
  const arm = text(fields["arm"]) ?? picture.arm ?? "";
  const old = picture.blocks[index] ?? { arm, warmup: [], steps: [] };
  const side = fields["phase"] === "warmup" ? "warmup" : "steps";
  // Steps that came twice after a reconnection are written over each other, not added.
  const list = [...old[side]];
  wall_ms.forEach((value, offset) => {
    list[first + offset] = { wall_ms: value, loss: loss[offset] ?? Number.NaN };
  });
  const blocks = [...picture.blocks];
  blocks[index] = { ...old, arm, [side]: list };
  const asked = number(fields["asked"]);
  return {
    ...picture,
    blocks,
    arm,
    arm_index: index,
    arm_count: number(fields["arm_count"]) ?? picture.arm_count,
    ...(asked === undefined ? {} : { asked }),
  };
}

/** How much of the plan's steps is done, from 0 to 1. */
export function progressOf(picture: RunPicture): number {
  if (picture.state !== undefined && picture.state !== "running" && picture.state !== "queued") return 1;
  if (picture.arm_count === 0) return 0;
  const done = picture.blocks[picture.arm_index]?.steps.length ?? 0;
  const inside = picture.asked === undefined || picture.asked === 0 ? 0 : Math.min(1, done / picture.asked);
  return Math.min(1, (picture.arm_index + inside) / picture.arm_count);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((item): item is number => typeof item === "number") : [];
}

const event_kinds = ["state", "arm", "steps", "log", "gap", "done"] as const;
const reconnect_ms = 2_000;

/** Follows a run until it is over. The browser resumes by Last-Event-ID; a refused stream is opened anew after a pause. */
export class RunEvents {
  private stream_: EventSource | undefined;
  private timer_: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly address_: string,
    private readonly on_event_: (kind: string, data: unknown) => void,
    private readonly on_connection_: (connected: boolean) => void,
  ) {
    this.open();
  }

  close(): void {
    this.stream_?.close();
    clearTimeout(this.timer_);
  }

  private open(): void {
    const stream = new EventSource(this.address_);
    this.stream_ = stream;
    stream.onopen = () => this.on_connection_(true);
    stream.onerror = () => {
      this.on_connection_(false);
      if (stream.readyState === EventSource.CLOSED) this.timer_ = setTimeout(() => this.open(), reconnect_ms);
    };
    for (const kind of event_kinds) {
      stream.addEventListener(kind, (event: MessageEvent<string>) => {
        this.on_event_(kind, parse(event.data));
        // The server ends the stream after "done"; without this the browser would ask for it again for ever.
        if (kind === "done") this.close();
      });
    }
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}
