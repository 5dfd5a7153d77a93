import { useState } from "preact/hooks";
import { call, type Shard } from "./api";
import { counted, duration, milliseconds, number } from "./format";
import { Badge, Button, Card, Empty, Loaded, Page, Table, Tile, Time } from "./parts";
import { usePoll } from "./poll";
import { namespace, serverNow } from "./state";

const shownRows = 50;

// level is the colour of a shard in the heat map: by its lag, or that nobody owns it.
function level(s: Shard): string {
  if (!s.held) return "free";
  const lag = milliseconds(s.overdueFor ?? "");
  if (lag >= 60_000) return "l4";
  if (lag >= 10_000) return "l3";
  if (lag >= 2000) return "l2";
  return lag > 0 ? "l1" : "l0";
}

const legend: [string, string][] = [["l0", "nothing overdue"], ["l1", "< 2 s"], ["l2", "< 10 s"], ["l3", "< 1 min"], ["l4", "longer"], ["free", "no owner"]];

export function Shards() {
  const ns = namespace.value;
  const list = usePoll<{ shards: Shard[] }>(`shards/${ns}`, 5000, (abort) => call("shards/list", { namespace: ns }, abort));
  const [rows, setRows] = useState(shownRows);
  return (
    <Page title="Shards">
      <Loaded of={list}>{({ shards }) => {
        const free = shards.filter((s) => !s.held).length;
        const overdue = shards.filter((s) => s.overdueFor);
        const worst = Math.max(0, ...overdue.map((s) => milliseconds(s.overdueFor ?? "")));
        const nodes = new Map<string, number>();
        for (const s of shards) if (s.held) nodes.set(s.node ?? "", (nodes.get(s.node ?? "") ?? 0) + 1);
        const most = Math.max(1, ...nodes.values());
        const now = serverNow();
        return (
          <>
            <div class="tiles">
              <Tile label="Shards" value={number(shards.length)} hint={ns} />
              <Tile label="Without an owner" value={number(free)} kind={free ? "warn" : ""} hint={free ? "no scheduler runs, or one just ended" : "all are owned"} />
              <Tile label="With overdue timers" value={number(overdue.length)} kind={worst > 10_000 ? "warn" : ""} hint={worst ? `longest ${duration(worst)}` : "none"} />
              <Tile label="Nodes" value={number(nodes.size)} hint="that own shards" />
            </div>
            <div class="grid">
              <Card title="Lag" wide aside={
                <div class="legend">{legend.map(([kind, text]) => <span key={kind}><i class={`cell ${kind}`} />{text}</span>)}</div>
              }>
                <div class="heat" role="img" aria-label={`${counted(shards.length, "shard")}: ${free} without an owner, ${overdue.length} with overdue timers. The table below lists ${shards.length > rows ? `the first ${rows}` : "them"}.`}>
                  {shards.map((s) => <i key={s.shard} class={`cell ${level(s)}`} title={`shard ${s.shard}, partition ${s.partition}, ${s.held ? s.node : "no owner"}${s.overdueFor ? `, overdue for ${s.overdueFor}` : ""}`} />)}
                </div>
              </Card>
              <Card title="Balance" wide>
                {nodes.size === 0 ? <Empty title="No node owns a shard." command="timerbus scheduler --help">Start a scheduler:</Empty> : (
                  <ul class="balance">
                    {[...nodes].sort(([a], [b]) => a < b ? -1 : 1).map(([node, n]) => (
                      <li key={node}><span class="clip">{node}</span><span class="meter" aria-hidden="true"><span style={{ width: `${n / most * 100}%` }} /></span><span class="num">{counted(n, "shard")}</span></li>
                    ))}
                  </ul>
                )}
              </Card>
              <Card title="Every shard" wide flush>
                <Table caption="Shards" head={["Shard", "Partition", "Owner", "Claimed", "Watermark", "Next due", "Overdue for"]} stack>
                  {shards.slice(0, rows).map((s) => (
                    <tr key={s.shard}>
                      <td class="num" data-label="Shard">{s.shard}</td>
                      <td class="num" data-label="Partition">{s.partition}</td>
                      <td class="clip" data-label="Owner">{s.held ? s.node : <Badge kind="retrying">none</Badge>}</td>
                      <td data-label="Claimed"><Time at={s.claimedAt} only="relative" /></td>
                      <td data-label="Watermark">{s.watermark ? <time dateTime={s.watermark} title={s.watermark}>{duration(Math.max(0, now - Date.parse(s.watermark)))} behind</time> : <span class="muted">–</span>}</td>
                      <td data-label="Next due"><Time at={s.nextDueAt} only="relative" /></td>
                      <td class="num" data-label="Overdue for">{s.overdueFor ?? <span class="muted">–</span>}</td>
                    </tr>
                  ))}
                </Table>
                {shards.length > rows && <div class="pager"><span class="muted">{rows} of {number(shards.length)}</span><Button onClick={() => { setRows(rows + 500); }}>Show more</Button></div>}
              </Card>
            </div>
          </>
        );
      }}</Loaded>
    </Page>
  );
}
