/** The one socket of the page: frames on channels, and a new connection when one is lost. */

import { effect, signal, untracked } from "@preact/signals";

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

/** Milliseconds between two questions on a channel. */
const BREATH = 25;

/** Questions on a channel that are answered by frames with the same number; only the latest counts.
 *  The server is told of a newer one at once: it soon ends what it does for the older one. */
export class Latest<Request, Result, Part = never> {
  private number = 0;
  private timer = 0;
  private sent = -Infinity;
  /** What is not answered yet, by number: an answer is the last of all before it. */
  private readonly asked = new Map<number, Request>();

  constructor(
    private readonly channel: string,
    private readonly answered: (result: Result, request: Request) => void,
    private readonly failed: (error: unknown, request: Request) => void,
    /** Hears the parts of an answer that is told in parts. */
    private readonly told: (part: Part, request: Request) => void = () => undefined,
  ) {
    listen(channel, (frame) => this.hear(frame));
    effect(() => {
      if (connection.value > 0) untracked(() => this.again());
    });
  }

  /** Ask: at once, but not all the time. While answers are awaited, the server keeps only the newest
   *  question that waits. */
  ask(request: Request): void {
    this.number += 1;
    this.asked.set(this.number, request);
    if (this.timer !== 0) return;
    const rest = this.sent + BREATH - performance.now();
    if (rest <= 0) this.send();
    else this.timer = window.setTimeout(() => this.send(), rest);
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    const request = this.asked.get(this.number);
    if (request === undefined) return;
    this.sent = performance.now();
    send({ channel: this.channel, id: this.number, request });
  }

  /** Whether an answer is awaited. */
  get isWaiting(): boolean {
    return this.asked.size > 0;
  }

  /** What was asked of a connection that is gone, or before there was one, is asked again. */
  private again(): void {
    const last = [...this.asked.values()].at(-1);
    this.forget();
    if (last !== undefined) this.ask(last);
  }

  /** Nothing that was asked matters any more. */
  forget(): void {
    this.asked.clear();
  }

  private hear(frame: Frame): void {
    const number = Number(frame["id"]);
    const request = this.asked.get(number);
    if (request === undefined) return;
    for (const older of this.asked.keys()) if (older < number) this.asked.delete(older);
    if ("part" in frame) {
      this.told(frame["part"] as Part, request);
      return;
    }
    this.asked.delete(number);
    if ("error" in frame) this.failed(frame["error"], request);
    else this.answered(frame["result"] as Result, request);
  }
}
