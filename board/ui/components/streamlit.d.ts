// What Streamlit hands to a component, for the type checker alone: nothing of this reaches a browser.

/** The element, or the shadow root, that a component draws into; the same one as long as the component stays on the page. */
export type Parent = HTMLElement | ShadowRoot;

/** What a component's default function is called with, whenever its data or the theme change. */
export interface Mounted<Data> {
  data: Data;
  parentElement: Parent;
  setTriggerValue(name: string, value: unknown): void;
  setStateValue(name: string, value: unknown): void;
}
