// Puts the page together: where data come from, how addresses look, and the frame around the views.

import "./app_shell";
import type { AppShell } from "./app_shell";
import { ApiSource } from "./data/api_source";
import { SiteSource } from "./data/site_source";
import { HashRouter, PathRouter } from "./router";

const is_site = import.meta.env.MODE === "site";
const app = document.querySelector<AppShell>("assay-app")!;
app.source = is_site ? new SiteSource(document.baseURI) : new ApiSource();
app.router = is_site ? new HashRouter() : new PathRouter();
app.start();
