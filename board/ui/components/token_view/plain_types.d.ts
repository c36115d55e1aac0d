// Plain shapes of the token view, for the type checker alone: nothing of this reaches a browser.

/** Red, green and blue, each 0 to 255. */
export type Rgb = number[];
/** Two numbers, the lower one first. */
export type Ends = [number, number];
/** In pixels of the window. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
export interface Spot {
  left: number;
  top: number;
}
export interface Size {
  width: number;
  height: number;
}
/** Tells when a box has another size than what stands in it was drawn for. */
export interface SizeWatch {
  /** What stands in the box has been drawn for the size that it has now. */
  drawn(): void;
  stop(): void;
}
/** A function that runs its work later, and once however often it is called. */
export interface Deferred {
  (): void;
  cancel(): void;
}
/** A token on the screen and what its card must leave free. */
export interface Surroundings {
  token: Box | undefined;
  bounds: Box;
  keep: Box[];
  lines: Box[];
  spare: Box[];
}
