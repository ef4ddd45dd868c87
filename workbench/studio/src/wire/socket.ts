/** The one socket of the page: frames on channels, and a new connection when one is lost. */

import { signal } from "@preact/signals";

export type Frame = { channel: string } & Record<string, unknown>;
type Listener = (frame: Frame) => void;

const FIRST_WAIT = 300;
const LONGEST_WAIT = 5000;

/** Whether the server is there. */
export const connected = signal(false);

/** How often the socket has been opened: who keeps state on the server begins again with each. */
export const connection = signal(0);

const listeners = new Map<string, Set<Listener>>();
let socket: WebSocket | null = null;
let wait = FIRST_WAIT;

/** Hear the frames of a channel. */
export function listen(channel: string, listener: Listener): void {
  const heard = listeners.get(channel) ?? new Set();
  heard.add(listener);
  listeners.set(channel, heard);
}

/** Send a frame; false where no server is there to hear it. */
export function send(frame: Frame): boolean {
  if (socket === null || socket.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(frame));
  return true;
}

/** Connect, and again whenever the connection is lost. */
export function connect(): void {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const opened = new WebSocket(`${scheme}://${location.host}/api/socket`);
  socket = opened;
  opened.onopen = () => {
    wait = FIRST_WAIT;
    connected.value = true;
    connection.value += 1;
  };
  opened.onmessage = (message) => {
    const frame = JSON.parse(String(message.data)) as Frame;
    for (const listener of listeners.get(frame.channel) ?? []) listener(frame);
  };
  opened.onclose = () => {
    connected.value = false;
    setTimeout(connect, wait);
    wait = Math.min(LONGEST_WAIT, wait * 2);
  };
}

/** Questions on a channel that are answered by frames with the same number; only the latest counts. */
export class Latest<Request, Result> {
  private number = 0;
  private waiting: Request | null = null;
  private busy = false;

  constructor(
    private readonly channel: string,
    private readonly answered: (result: Result, request: Request) => void,
    private readonly failed: (error: unknown, request: Request) => void,
  ) {
    listen(channel, (frame) => this.hear(frame));
  }

  private asked: Request | null = null;

  /** Ask; while an answer is awaited, only the newest question waits for its turn. */
  ask(request: Request): void {
    if (this.busy) {
      this.waiting = request;
      return;
    }
    this.number += 1;
    this.asked = request;
    this.busy = send({ channel: this.channel, id: this.number, request });
    if (!this.busy) this.waiting = request;
  }

  /** What was asked of a connection that is gone is asked again. */
  again(): void {
    const last = this.waiting ?? (this.busy ? this.asked : null);
    this.busy = false;
    this.waiting = null;
    if (last !== null) this.ask(last);
  }

  /** Nothing that was asked matters any more. */
  forget(): void {
    this.number += 1;
    this.busy = false;
    this.waiting = null;
  }

  private hear(frame: Frame): void {
    if (frame["id"] !== this.number || !this.busy || this.asked === null) return;
    this.busy = false;
    const request = this.asked;
    const next = this.waiting;
    this.waiting = null;
    if (next !== null) this.ask(next);
    if ("error" in frame) this.failed(frame["error"], request);
    else this.answered(frame["result"] as Result, request);
  }
}
