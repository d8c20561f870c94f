/** The part of the DOM that the scripts of the site use. The type checker of the project has no types of browsers. */

/** An element, as far as the scripts use it: https://developer.mozilla.org/docs/Web/API/HTMLElement */
export interface SiteElement {
  readonly ownerDocument: { createElement(tag: string): SiteElement };
  textContent: string | null;
  /** Of inputs and selections. */
  value?: string;
  setAttribute(name: string, value: string): void;
  append(...children: SiteElement[]): void;
  replaceChildren(...children: SiteElement[]): void;
  addEventListener(type: 'input' | 'submit', listener: (event: { preventDefault(): void }) => void): void;
}

/** An element with attributes and children: elements, or one text. */
export function element(
  parent: SiteElement,
  tag: string,
  attributes: Readonly<Record<string, string>> = {},
  content: string | readonly SiteElement[] = [],
): SiteElement {
  const made = parent.ownerDocument.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (typeof content === 'string') made.textContent = content;
  else made.append(...content);
  return made;
}
