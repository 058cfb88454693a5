// Opens the kernel page in real Chromium on whatever adapter it hands out; on a machine without a GPU that is SwiftShader.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import { launchChromium } from "../../browser/support/chromium";
import { serveFolders, type StaticServer } from "../../browser/support/static_server";
import type { KernelPage, KernelRun } from "./kernel_page";

type Globals = { kernels: KernelPage };

export class KernelSession {
  private constructor(
    private readonly folder_: string,
    private readonly server_: StaticServer,
    private readonly browser_: Browser,
    readonly page: Page,
  ) {}

  static async open(): Promise<KernelSession> {
    const folder = mkdtempSync(join(tmpdir(), "assay-kernels-"));
    await build({
      configFile: false,
      logLevel: "error",
      publicDir: false,
      build: {
        outDir: folder,
        emptyOutDir: false,
        target: "es2022",
        lib: { entry: fileURLToPath(new URL("kernel_page.ts", import.meta.url)), formats: ["es"], fileName: "kernel_page" },
        rollupOptions: { external: [/^node:/] },
      },
    });
    writeFileSync(join(folder, "index.html"), '<!doctype html><title>kernels</title><script type="module" src="kernel_page.js"></script>');
    const server = await serveFolders({ "/": folder, "/shaders/": fileURLToPath(new URL("../../../shaders/", import.meta.url)) });
    const browser = await launchChromium({ webgpu: true });
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.error(error));
    await page.goto(`${server.origin}/`);
    await page.waitForFunction("globalThis.kernels !== undefined");
    return new KernelSession(folder, server, browser, page);
  }

  run(request: KernelRun): Promise<number[][]> {
    return this.page.evaluate((asked) => (globalThis as unknown as Globals).kernels.run(asked), request);
  }

  /** Calls one of the page's functions. */
  call<Name extends keyof KernelPage>(name: Name, ...given: Parameters<KernelPage[Name]>): Promise<Awaited<ReturnType<KernelPage[Name]>>> {
    return this.page.evaluate(
      ([asked, values]) => {
        const { kernels } = globalThis as unknown as Globals;
        return (kernels[asked as keyof KernelPage] as (...all: unknown[]) => unknown)(...(values as unknown[]));
      },
      [name, given] as [string, unknown[]],
    ) as Promise<Awaited<ReturnType<KernelPage[Name]>>>;
  }

  async close(): Promise<void> {
    await this.browser_.close();
    await this.server_.close();
    rmSync(this.folder_, { recursive: true, force: true });
  }
}
