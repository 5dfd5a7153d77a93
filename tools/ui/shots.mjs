// Writes the screenshots of docs/ui.md. Its argument is the folder.
import { join } from "node:path";
import { clientOf, launch, open, startReceiver, startService } from "./lib.mjs";
import { seed } from "./seed.mjs";

const folder = process.argv[2];
const service = await startService();
const receiver = await startReceiver();
const api = clientOf(service.url);
await seed(api, receiver.url);
const browser = await launch();
const shots = [
  ["overview", "overview"], ["timers", "timers"], ["timer", "timers/retried"], ["dead", "dead"], ["schedule", "schedules/daily-report"], ["create", "new/timer"],
];
const themes = process.env.THEMES?.split(",") ?? ["light"];
for (const theme of themes) {
  for (const width of [1280, 360]) {
    const view = await open(browser, `${service.url}/ui/`, { viewport: { width, height: width === 360 ? 780 : 860 }, colorScheme: theme });
    await view.page.locator("h1").waitFor();
    await view.page.waitForTimeout(width === 1280 ? 7000 : 500); // the first rates
    for (const [name, path] of shots) {
      await view.page.goto(`${service.url}/ui/#/${path}?ns=default`);
      await view.page.locator(".skeleton").first().waitFor({ state: "detached" });
      await view.page.locator("h1").waitFor();
      await view.page.waitForTimeout(name === "overview" && width === 1280 ? 7000 : 900);
      // The version changes with each commit.
      await view.page.evaluate(() => { document.querySelector(".version").style.visibility = "hidden"; });
      await view.page.screenshot({ path: join(folder, `${name}-${width}${theme === "dark" ? "-dark" : ""}.png`) });
    }
    view.check();
    await view.close();
  }
}
await browser.close();
receiver.stop();
await service.stop();
