// As much of uPlot 1.6.32 as is used here, for the type checker alone; not of the package.

interface UPlotSeries {
  stroke?: string;
  width?: number;
  dash?: number[];
  points?: { show: () => boolean; size?: number; fill?: string; width?: number; filter?: (u: uPlot, series: number) => number[] };
}

export default class uPlot {
  constructor(options: Record<string, unknown>, data: (Float64Array | (number | null | undefined)[])[], target: HTMLElement);
  readonly root: HTMLElement;
  readonly over: HTMLElement;
  readonly width: number;
  readonly height: number;
  readonly ctx: CanvasRenderingContext2D;
  /** The plot on the canvas, in its own pixels. */
  readonly bbox: { left: number; top: number; width: number; height: number };
  readonly data: (Float64Array | (number | null | undefined)[])[];
  readonly series: { stroke?: unknown }[];
  readonly cursor: { left?: number };
  readonly select: { left: number; width: number };
  setSize(size: { width: number; height: number }): void;
  setData(data: (Float64Array | (number | null | undefined)[])[], resetScales?: boolean): void;
  setScale(scale: string, range: { min: number; max: number }): void;
  setSelect(select: { left: number; top: number; width: number; height: number }, fire?: boolean): void;
  valToPos(value: number, scale: string, canvas?: boolean): number;
  posToVal(position: number, scale: string): number;
  batch(work: () => void): void;
  redraw(rebuildPaths?: boolean, recalcAxes?: boolean): void;
  destroy(): void;
  static pxRatio: number;
}
