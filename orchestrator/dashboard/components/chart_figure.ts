// A chart with its words and its table. The drawing comes later and may be redrawn; the words are there at once.

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { theme_changed } from "./theme";

/** Draws into a width in CSS pixels. Loaded on demand, so that no view waits for the chart library. */
export type Draw = (width: number) => Promise<Element>;

@customElement("assay-chart")
export class AssayChart extends LitElement {
  @property() heading = "";
  /** One sentence that says what is to be seen, for readers of the picture and of the words alike. */
  @property() description = "";
  @property({ attribute: false }) draw: Draw | undefined;
  /** Changes when the data do; the drawing is made anew only then, or when the width changes. */
  @property() version = "";
  @property({ attribute: false }) legend: TemplateResult | typeof nothing = nothing;
  @property({ attribute: false }) table: TemplateResult | typeof nothing = nothing;

  private observer_: ResizeObserver | undefined;
  private readonly dark_ = matchMedia("(prefers-color-scheme: dark)");
  private readonly recolour_ = (): void => void this.redraw();
  private drawn_ = "";

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.observer_ = new ResizeObserver(() => void this.redraw());
    this.dark_.addEventListener("change", this.recolour_);
    window.addEventListener(theme_changed, this.recolour_);
    this.observeArea();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.observer_?.disconnect();
    this.dark_.removeEventListener("change", this.recolour_);
    window.removeEventListener(theme_changed, this.recolour_);
    this.drawn_ = "";
  }

  protected override updated(): void {
    this.observeArea();
    void this.redraw();
  }

  /** The area is what has a width; the element itself may have no box of its own. */
  private observeArea(): void {
    const area = this.querySelector(":scope > figure > .chart-area");
    if (area !== null) this.observer_?.observe(area);
  }

  private async redraw(): Promise<void> {
    const area = this.querySelector(":scope > figure > .chart-area");
    const width = Math.floor(area?.clientWidth ?? 0);
    // What a canvas has drawn keeps its colours, so another theme is another drawing.
    const wanted = `${this.version} ${width} ${getComputedStyle(this).color}`;
    if (area === null || this.draw === undefined || width === 0 || wanted === this.drawn_) return;
    this.drawn_ = wanted;
    const drawing = await this.draw(width);
    // Plot puts a style element inside its drawing, which the content policy forbids; charts.css says the same.
    drawing.querySelectorAll("style").forEach((style) => style.remove());
    // It also names the groups inside, which are no parts that a reader of the words could use: the whole is one picture.
    drawing.querySelectorAll("[aria-label]").forEach((part) => {
      part.setAttribute("data-mark", part.getAttribute("aria-label") ?? "");
      part.removeAttribute("aria-label");
      part.removeAttribute("aria-description");
    });
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", `${this.heading}. ${this.description}`);
    // A later call may have started meanwhile; only the latest one shows.
    if (wanted === this.drawn_) area.replaceChildren(drawing);
    else if (area.childElementCount === 0 && this.isConnected) {
      this.drawn_ = "";
      await this.redraw();
    }
  }

  protected override render(): TemplateResult {
    return html`<figure class="chart">
        <figcaption>
          <p class="chart-title">${this.heading}</p>
          <p>${this.description}</p>
        </figcaption>
        <div class="chart-area"></div>
        ${this.legend}
      </figure>
      ${this.table === nothing
        ? nothing
        : html`<details>
            <summary>The same as a table</summary>
            <div class="table-scroll" tabindex="0" role="region" aria-label=${`${this.heading}, as a table`}>${this.table}</div>
          </details>`}`;
  }
}
