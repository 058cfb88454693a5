// The base of every view: its source, its route and how it makes addresses. Views render into the page itself, so that the
// page's style sheets and the content policy are all they need.

import { LitElement } from "lit";
import { property } from "lit/decorators.js";
import type { Source } from "../data/source";
import type { Route, Router } from "../router";

export abstract class View extends LitElement {
  @property({ attribute: false }) source!: Source;
  @property({ attribute: false }) route!: Route;
  @property({ attribute: false }) router!: Router;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected href(address: string): string {
    return this.router.href(address);
  }
}
