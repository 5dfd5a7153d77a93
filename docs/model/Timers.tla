------------------------------- MODULE Timers -------------------------------
(***************************************************************************)
(* Timers of one shard: ingest writes rows, schedulers publish due events, *)
(* dispatchers deliver them.  The faults are crashes, lost messages, two   *)
(* owners and wrong clocks.                                                *)
(*                                                                         *)
(* Time is a counter.  Actions that a healthy process performs immediately *)
(* are urgent: time does not advance while one of them is possible.  So a  *)
(* late timer is a state, and lateness is an invariant, not a liveness     *)
(* property.  Faults are never urgent, and a budget bounds each kind.      *)
(*                                                                         *)
(* docs/design.md explains the rules (I1 ...).  README.md says how to run  *)
(* this, what each configuration covers, and what is left out.             *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
    Timers,         \* 1..n; a timer id is also its position in the order of keys
    Schedulers,     \* processes that may own the shard
    Dispatchers,    \* processes that deliver; in memory the same set as Schedulers
    WriteUntil,     \* the last tick at which a write may begin or a fault may happen
    MaxTime,        \* the tick at which every timer must have been delivered
    Writes,         \* number of creates, replacements and deletes
    Deletes,        \* largest number of deletes among them
    CommitTime,     \* largest number of ticks from the begin of a write to its commit
    CallTime,       \* largest number of ticks that a callback takes
    Steppable,      \* nodes whose wall clock may jump
    Skews,          \* possible initial offsets of each clock from true time
    Crashes, HintLosses, TailLosses, Revivals, Losses, Handovers, ClockSteps, \* budgets of faults
    LookAhead,      \* how far ahead of the present a poll reads
    Slack,          \* how far the watermark stays behind the present
    Grace,          \* a row is overdue this long after its due time
    Margin,         \* how far before the start of the last complete sweep the next one begins
    LongBound,      \* after this time a publication counts as lost in any case
    ClockBound,     \* largest difference between two clocks
    InMemory,       \* TRUE: each process schedules and delivers, with its due events in memory between the two
    Broken          \* names of the rules that this run switches off

Broke(rule) == rule \in Broken

VARIABLES
    now,        \* true time
    rows,       \* the store: a row for each timer, or NoRow
    shard,      \* the store: claim version, watermark, largest key published (P)
    pending,    \* the write that has begun and is not committed yet
    hints,      \* hints that the owner has not received yet
    queue,      \* the due queue of the bus, or in memory one for each process
    owner,      \* the process to which the bus has assigned the partition
    sched,      \* what each scheduler knows
    disp,       \* what each dispatcher does
    offset,     \* how far each node's clock is from true time
    ghost,      \* record of what happened, for the properties only; no process reads it
    budget

vars == <<now, rows, shard, pending, hints, queue, owner, sched, disp, offset, ghost, budget>>

-----------------------------------------------------------------------------
(* Values. *)

None == "none"
Ingest == "ingest"
NoRow == [rev |-> 0, id |-> 0, due |-> 0, written |-> 0]
NoWrite == [kind |-> None, t |-> 0, due |-> 0, began |-> 0]
Nodes == Schedulers \union Dispatchers \union {Ingest}

Ids == 1..Writes            \* each write creates one new state; its id is for the properties only
Symmetry == IF InMemory THEN Permutations(Schedulers) ELSE Permutations(Schedulers) \union Permutations(Dispatchers)
MaxOf(a, b) == IF a > b THEN a ELSE b
MinOf(S) == CHOOSE x \in S : \A y \in S : x <= y
MaxIn(S) == CHOOSE x \in S : \A y \in S : x >= y

(* Keys order rows by due time, then by timer. *)
Key(due, t) == due * (Cardinality(Timers) + 1) + t
KeyOf(s) == Key(s.due, s.t)
LastKeyAt(time) == Key(time, Cardinality(Timers))

(* A state of a timer, as in hints and due events. *)
StateOf(t) == [t |-> t, rev |-> rows[t].rev, due |-> rows[t].due, id |-> rows[t].id]
Present == {t \in Timers : rows[t] # NoRow}

(* Positions in the queue are ordered by epoch, then by offset. *)
Before(p, q) == p.epoch < q.epoch \/ (p.epoch = q.epoch /\ p.at < q.at)
Queues == IF InMemory THEN Schedulers ELSE {"bus"}
QueueOf(n) == IF InMemory THEN n ELSE "bus"
QueueEnd(q) == [epoch |-> queue[q].epoch, at |-> queue[q].end]

(* The oldest position that is not acknowledged, or the end.  `revived` are acknowledged messages that a crash
   of the server restored: the queue contains them, but no consumer gets them. *)
AckFloor(q) ==
    LET kept == {m.at : m \in queue[q].messages} \union (IF Broke("floor of what is kept") THEN queue[q].revived ELSE {})
    IN  IF kept = {} THEN QueueEnd(q) ELSE [epoch |-> queue[q].epoch, at |-> MinOf(kept)]

Idle == [step |-> "idle", m |-> [t |-> 0], since |-> 0]
Off == [role |-> "off", version |-> 0, claimedAt |-> 0, read |-> 0, barrier |-> 0, standing |-> FALSE,
        end |-> [epoch |-> 0, at |-> 0], armed |-> {}, inFlight |-> {}, sent |-> 0, sweptAt |-> -1, sweepFrom |-> 0]

Clock(n) == now + offset[n]
Trusted(n) == Broke("trust every clock") \/ (offset[n] <= ClockBound /\ offset[n] >= -ClockBound)

Init ==
    /\ now = 1
    /\ rows = [t \in Timers |-> NoRow]
    /\ shard = [version |-> 0, watermark |-> 0, published |-> 0]
    /\ pending = NoWrite
    /\ hints = {}
    /\ queue = [q \in Queues |-> [messages |-> {}, revived |-> {}, end |-> 2, epoch |-> 1]] \* position 1 was acknowledged before
    /\ owner = None
    /\ sched = [s \in Schedulers |-> Off]
    /\ disp = [d \in Dispatchers |-> Idle]
    /\ offset \in [Nodes -> Skews]
    /\ ghost = [ids |-> 0, faults |-> 0, delivered |-> [i \in Ids |-> 0], published |-> {}, slow |-> {}, over |-> {}, wrong |-> "no"]
    /\ budget = [writes |-> Writes, deletes |-> Deletes, crashes |-> Crashes, hintLosses |-> HintLosses,
                 tailLosses |-> TailLosses, revivals |-> Revivals, losses |-> Losses, handovers |-> Handovers, clockSteps |-> ClockSteps]

Spend(kind) == budget[kind] > 0 /\ now <= WriteUntil /\ budget' = [budget EXCEPT ![kind] = @ - 1]
Fault == ghost' = [ghost EXCEPT !.faults = 1]

-----------------------------------------------------------------------------
(* Ingest. *)

(* A write decides its due time, which is never in the past (I6), before it is committed. *)
BeginPut(t, due) ==
    /\ pending = NoWrite /\ due >= now
    /\ Spend("writes")
    /\ pending' = [kind |-> "put", t |-> t, due |-> due, began |-> now]
    /\ UNCHANGED <<now, rows, shard, hints, queue, owner, sched, disp, offset, ghost>>

BeginDelete(t) ==
    /\ pending = NoWrite /\ t \in Present /\ budget.writes > 0 /\ budget.deletes > 0 /\ now <= WriteUntil
    /\ budget' = [budget EXCEPT !.writes = @ - 1, !.deletes = @ - 1]
    /\ pending' = [kind |-> "delete", t |-> t, due |-> 0, began |-> now]
    /\ UNCHANGED <<now, rows, shard, hints, queue, owner, sched, disp, offset, ghost>>

(* The state that a committed write replaces: if the commit was in time (I7), this state must never be delivered afterwards. *)
OverNow(t) ==
    LET judgedAt == IF Broke("judge before the commit") THEN pending.began ELSE Clock(Ingest)
        inTime == t \in Present /\ judgedAt + ClockBound < rows[t].due /\ Trusted(Ingest)
    IN  IF inTime THEN {rows[t].id} ELSE {}

(* I3: a revision is never used twice for a timer, also after a delete. *)
NextRevision(t) == IF Broke("revisions count") THEN rows[t].rev + 1 ELSE ghost.ids + 1

Commit ==
    LET t == pending.t
        rev == NextRevision(t)
        id == ghost.ids + 1
    IN  /\ pending # NoWrite
        /\ pending' = NoWrite
        /\ IF pending.kind = "delete"
           THEN /\ rows' = [rows EXCEPT ![t] = NoRow]
                /\ ghost' = [ghost EXCEPT !.over = @ \union OverNow(t)]
                /\ UNCHANGED hints
           ELSE /\ rows' = [rows EXCEPT ![t] = [rev |-> rev, id |-> id, due |-> pending.due, written |-> pending.began]]
                /\ ghost' = [ghost EXCEPT !.ids = id, !.over = @ \union OverNow(t),
                                          !.slow = IF now - pending.due >= Slack THEN @ \union {id} ELSE @]
                /\ hints' = hints \union {[t |-> t, rev |-> rev, due |-> pending.due, id |-> id]}
        /\ UNCHANGED <<now, shard, queue, owner, sched, disp, offset, budget>>

MustCommit == pending # NoWrite /\ now >= pending.began + CommitTime

-----------------------------------------------------------------------------
(* Schedulers. *)

Owns(s) == sched[s].role = "owner" /\ Trusted(s)
Fenced(s) == sched[s].version # shard.version

Stop(s) == [sched EXCEPT ![s] = Off]

(* The bus assigns the partition to a process.  Earlier hints are not delivered (mode Live). *)
Assign(s) ==
    /\ owner = None /\ sched[s].role = "off" /\ Trusted(s)
    /\ owner' = s
    /\ hints' = {}
    /\ sched' = [sched EXCEPT ![s] = [Off EXCEPT !.role = "assigned"]]
    /\ UNCHANGED <<now, rows, shard, pending, queue, disp, offset, ghost, budget>>

(* The scheduler notes the end of the queue, then claims the shard: version + 1.  An earlier owner may have
   published keys up to the handover barrier. *)
Claim(s) ==
    /\ sched[s].role = "assigned"
    /\ IF owner # s
       THEN /\ sched' = [sched EXCEPT ![s] = Off]
            /\ UNCHANGED shard
       ELSE /\ shard' = [shard EXCEPT !.version = @ + 1]
            /\ sched' = [sched EXCEPT ![s] = [Off EXCEPT
                    !.role = "owner", !.version = shard.version + 1, !.claimedAt = now,
                    !.read = MaxOf(shard.watermark, shard.published), !.barrier = MaxOf(shard.watermark, shard.published),
                    !.standing = ~InMemory, !.end = QueueEnd(QueueOf(s)), !.sweptAt = Clock(s) - 1]]
    /\ UNCHANGED <<now, rows, pending, hints, queue, owner, disp, offset, ghost, budget>>

Known(s, k) == k \in sched[s].armed \/ \E f \in sched[s].inFlight : f.rev = k.rev /\ f.t = k.t

(* A scheduler whose clock is beyond the bound gives its partition to another one. *)
GiveUp(s) ==
    /\ sched[s].role = "owner" /\ ~Trusted(s)
    /\ sched' = Stop(s)
    /\ owner' = IF owner = s THEN None ELSE owner
    /\ UNCHANGED <<now, rows, shard, pending, hints, queue, disp, offset, ghost, budget>>

(* Due: rows beyond the read cursor that are due within the look-ahead. *)
PollFinds(s) == {StateOf(t) : t \in {u \in Present : Key(rows[u].due, u) > sched[s].read /\ rows[u].due <= Clock(s) + LookAhead}}

Poll(s) ==
    LET found == PollFinds(s)
        new == {k \in found : ~Known(s, k)}
    IN  /\ Owns(s) /\ found # {}
        /\ sched' = IF Fenced(s) THEN Stop(s)
                    ELSE [sched EXCEPT ![s].armed = @ \union new, ![s].read = MaxIn({KeyOf(k) : k \in found})]
        /\ UNCHANGED <<now, rows, shard, pending, hints, queue, owner, disp, offset, ghost, budget>>

(* A hint within the look-ahead is armed, regardless of the read cursor; for keys up to the handover barrier the sweep decides. *)
TakeHint(s, h) ==
    /\ Owns(s) /\ owner = s /\ h \in hints
    /\ hints' = hints \ {h}
    /\ LET arm == h.due <= Clock(s) + LookAhead /\ ~Known(s, h) /\ ~(sched[s].standing /\ KeyOf(h) <= sched[s].barrier)
       IN  sched' = IF arm THEN [sched EXCEPT ![s].armed = @ \union {h}] ELSE sched
    /\ UNCHANGED <<now, rows, shard, pending, queue, owner, disp, offset, ghost, budget>>

Message(k, q) == [t |-> k.t, rev |-> k.rev, due |-> k.due, id |-> k.id, at |-> queue[q].end, by |-> None]
Append(k, q) == [queue EXCEPT ![q].messages = @ \union {Message(k, q)}, ![q].end = @ + 1]
Flight(k, s) == [t |-> k.t, rev |-> k.rev, due |-> k.due, pos |-> QueueEnd(QueueOf(s)), since |-> Clock(s)]
NotePublished(k) == [ghost EXCEPT !.published = @ \union {k.id}]

(* An armed state is published at its time, never before. *)
Release(s, k) ==
    /\ Owns(s) /\ k \in sched[s].armed /\ k.due <= Clock(s)
    /\ queue' = Append(k, QueueOf(s))
    /\ sched' = [sched EXCEPT ![s].armed = @ \ {k}, ![s].inFlight = @ \union {Flight(k, s)}, ![s].sent = MaxOf(@, KeyOf(k))]
    /\ ghost' = NotePublished(k)
    /\ UNCHANGED <<now, rows, shard, pending, hints, owner, disp, offset, budget>>

(* I6: the watermark covers the published keys up to the read cursor, and stays behind the present.
   In memory a publication does not survive the process, so the watermark waits for outcomes. *)
Unsure(s) == {KeyOf(k) : k \in sched[s].armed} \union
             IF InMemory /\ ~Broke("watermark before outcome") THEN {KeyOf(f) : f \in sched[s].inFlight} ELSE {}
Watermark(s) ==
    LET limit == MinOf({sched[s].read, LastKeyAt(Clock(s) - Slack)})
    IN  IF Unsure(s) = {} THEN limit ELSE MinOf({limit, MinOf(Unsure(s)) - 1})

Advance(s) ==
    /\ Owns(s) /\ ~(sched[s].standing /\ sched[s].barrier > shard.watermark)
    /\ Watermark(s) > shard.watermark
    /\ IF Fenced(s) /\ ~Broke("unfenced advance")
       THEN sched' = Stop(s) /\ UNCHANGED shard
       ELSE shard' = [shard EXCEPT !.watermark = Watermark(s)] /\ UNCHANGED sched
    /\ UNCHANGED <<now, rows, pending, hints, queue, owner, disp, offset, ghost, budget>>

(* The dispatchers have acknowledged every message below the floor, after its outcome was in the store (I10). *)
Passed(f, s) == Before(f.pos, AckFloor(QueueOf(s))) \/ Broke("drop before the floor")

TakeFloor(s) ==
    LET falls == sched[s].standing /\ ~Before(AckFloor(QueueOf(s)), sched[s].end)
        passed == {f \in sched[s].inFlight : Passed(f, s)}
    IN  /\ Owns(s) /\ (falls \/ passed # {})
        /\ sched' = [sched EXCEPT ![s].inFlight = @ \ passed,
                                  ![s].standing = @ /\ ~falls,
                                  ![s].read = IF falls THEN MinOf({@, shard.watermark}) ELSE @]
        /\ UNCHANGED <<now, rows, shard, pending, hints, queue, owner, disp, offset, ghost, budget>>

(* I4, I12: the sweep reads overdue rows up to the read cursor.  A row that is neither armed nor in flight was
   lost, unless an earlier owner may have published it and the floor has not passed the end of the queue at the claim. *)
Overdue(s) == {t \in Present : /\ rows[t].due + Grace < Clock(s)
                               /\ Key(rows[t].due, t) >= sched[s].sweepFrom
                               /\ Key(rows[t].due, t) <= sched[s].read}
LostFlight(s, k) == \E f \in sched[s].inFlight : f.rev = k.rev /\ f.t = k.t /\ Clock(s) - f.since >= LongBound
Lost(s, k) ==
    /\ k \notin sched[s].armed
    /\ \/ LostFlight(s, k)
       \/ /\ ~Known(s, k)
          /\ \/ rows[k.t].written > sched[s].claimedAt + ClockBound
             \/ ~sched[s].standing
             \/ Clock(s) - rows[k.t].due >= LongBound

Sweep(s) ==
    LET found == {StateOf(t) : t \in Overdue(s)}
        lost == {k \in found : Lost(s, k)}
        left == {KeyOf(k) : k \in found}
        restart == LastKeyAt(Clock(s) - (IF Broke("no margin") THEN 0 ELSE Margin) - 1) + 1
    IN  /\ ~Broke("no sweep")
        /\ Owns(s) /\ sched[s].sweptAt < Clock(s)
        /\ sched' = IF Fenced(s) THEN Stop(s)
                    ELSE [sched EXCEPT ![s].sweptAt = Clock(s),
                                       ![s].armed = @ \union lost,
                                       ![s].inFlight = {f \in @ : ~\E k \in lost : k.rev = f.rev /\ k.t = f.t},
                                       ![s].sweepFrom = MinOf({restart} \union left)]
        /\ UNCHANGED <<now, rows, shard, pending, hints, queue, owner, disp, offset, ghost, budget>>

-----------------------------------------------------------------------------
(* Dispatchers. *)

(* The messages, with those that d had taken available again. *)
Freed(d, messages) == {[m EXCEPT !.by = IF @ = d THEN None ELSE @] : m \in messages}

Take(d, m) ==
    /\ disp[d].step = "idle" /\ m \in queue[QueueOf(d)].messages /\ m.by = None /\ Trusted(d)
    /\ queue' = [queue EXCEPT ![QueueOf(d)].messages = (@ \ {m}) \union {[m EXCEPT !.by = d]}]
    /\ disp' = [disp EXCEPT ![d] = [step |-> "taken", m |-> m, since |-> now]]
    /\ UNCHANGED <<now, rows, shard, pending, hints, owner, sched, offset, ghost, budget>>

Matches(m) == m.t \in Present /\ rows[m.t].rev = m.rev

(* I7: wait for the time, then read the row, then deliver immediately. *)
Check(d) ==
    /\ disp[d].step = "taken" /\ Trusted(d)
    /\ Clock(d) >= disp[d].m.due
    /\ disp' = IF Matches(disp[d].m)
               THEN [disp EXCEPT ![d].step = "checked", ![d].m.id = rows[disp[d].m.t].id]
               ELSE [disp EXCEPT ![d].step = IF Broke("no row check") THEN "checked" ELSE "settled"]
    /\ UNCHANGED <<now, rows, shard, pending, hints, queue, owner, sched, offset, ghost, budget>>

Deliver(d) ==
    LET m == disp[d].m
    IN  /\ disp[d].step = "checked" /\ Clock(d) >= m.due
        /\ disp' = [disp EXCEPT ![d].step = "delivered", ![d].since = now]
        /\ ghost' = [ghost EXCEPT
                !.delivered[m.id] = IF @ < 2 THEN @ + 1 ELSE @,
                !.wrong = IF m.id \in ghost.over THEN "delivered after an answer in time"
                          ELSE IF now + ClockBound < m.due THEN "early" ELSE @]
        /\ UNCHANGED <<now, rows, shard, pending, hints, queue, owner, sched, offset, budget>>

(* I2: the outcome is a compare-and-set.  I10: it comes before the acknowledgement. *)
Finish(d) ==
    LET m == disp[d].m
    IN  /\ disp[d].step = "delivered"
        /\ rows' = IF Matches(m) THEN [rows EXCEPT ![m.t] = NoRow] ELSE rows
        /\ ghost' = IF Matches(m) /\ rows[m.t].id # m.id THEN [ghost EXCEPT !.wrong = "lost: removed before it was delivered"] ELSE ghost
        /\ disp' = [disp EXCEPT ![d].step = "settled"]
        /\ UNCHANGED <<now, shard, pending, hints, queue, owner, sched, offset, budget>>

MustFinish(d) == disp[d].step = "delivered" /\ now >= disp[d].since + CallTime

Ack(d) ==
    LET m == disp[d].m
    IN  /\ disp[d].step = "settled"
        /\ queue' = [queue EXCEPT ![QueueOf(d)].messages = {x \in @ : ~(x.at = m.at /\ x.rev = m.rev /\ x.by = d)}]
        /\ disp' = [disp EXCEPT ![d] = Idle]
        /\ UNCHANGED <<now, rows, shard, pending, hints, owner, sched, offset, ghost, budget>>

(* A node whose clock is beyond the bound returns messages whose delivery has not begun. *)
GiveBack(d) ==
    /\ disp[d].step \in {"taken", "checked"} /\ ~Trusted(d)
    /\ queue' = [queue EXCEPT ![QueueOf(d)].messages = Freed(d, @)]
    /\ disp' = [disp EXCEPT ![d] = Idle]
    /\ UNCHANGED <<now, rows, shard, pending, hints, owner, sched, offset, ghost, budget>>

-----------------------------------------------------------------------------
(* Faults. *)

LoseHint(h) ==
    /\ h \in hints /\ Spend("hintLosses") /\ Fault
    /\ hints' = hints \ {h}
    /\ UNCHANGED <<now, rows, shard, pending, queue, owner, sched, disp, offset>>

CrashScheduler(s) ==
    /\ ~InMemory /\ sched[s].role # "off" /\ Spend("crashes") /\ Fault
    /\ sched' = Stop(s)
    /\ owner' = IF owner = s THEN None ELSE owner
    /\ UNCHANGED <<now, rows, shard, pending, hints, queue, disp, offset>>

CrashDispatcher(d) ==
    /\ ~InMemory /\ disp[d].step # "idle" /\ Spend("crashes") /\ Fault
    /\ disp' = [disp EXCEPT ![d] = Idle]
    /\ queue' = [queue EXCEPT ![QueueOf(d)].messages = Freed(d, @)]
    /\ UNCHANGED <<now, rows, shard, pending, hints, owner, sched, offset>>

(* In memory, scheduler, queue and dispatcher of a process die together. *)
CrashProcess(p) ==
    /\ InMemory /\ (sched[p].role # "off" \/ disp[p].step # "idle") /\ Spend("crashes") /\ Fault
    /\ sched' = Stop(p)
    /\ owner' = IF owner = p THEN None ELSE owner
    /\ disp' = [disp EXCEPT ![p] = Idle]
    /\ queue' = [queue EXCEPT ![p].messages = {}]
    /\ UNCHANGED <<now, rows, shard, pending, hints, offset>>

(* A process loses the partition without noticing, for example because it was suspended. *)
LosePartition(s) ==
    /\ owner = s /\ Spend("losses") /\ Fault
    /\ owner' = None
    /\ UNCHANGED <<now, rows, shard, pending, hints, queue, sched, disp, offset>>

(* A graceful handover: the watermark is advanced and the claim released with the largest published key.  In
   memory, due events that were not begun are dropped, and those that were begun are finished first. *)
HandOver(s) ==
    LET unfenced == ~Fenced(s)
    IN  /\ owner = s /\ Owns(s) /\ Spend("handovers")
        /\ InMemory => disp[s].step \in {"idle", "taken"}
        /\ shard' = [shard EXCEPT
                !.watermark = IF unfenced /\ ~sched[s].standing THEN MaxOf(@, Watermark(s)) ELSE @,
                !.published = IF unfenced /\ ~InMemory THEN MaxOf(@, sched[s].sent) ELSE @]
        /\ sched' = Stop(s) /\ owner' = None
        /\ IF InMemory
           THEN queue' = [queue EXCEPT ![s].messages = {}] /\ disp' = [disp EXCEPT ![s] = Idle]
           ELSE UNCHANGED <<queue, disp>>
        /\ UNCHANGED <<now, rows, pending, hints, offset, ghost>>

(* The queue's server crashes.  It may lose all messages from a position on, and then assigns these positions
   again.  It may also restore acknowledged messages. *)
LoseTail(at) ==
    LET q == queue["bus"]
        epoch == IF at < q.end /\ ~Broke("no epoch") THEN q.epoch + 1 ELSE q.epoch
    IN  /\ ~InMemory /\ at <= q.end /\ Spend("tailLosses") /\ Fault
        /\ queue' = [queue EXCEPT !["bus"] =
                [@ EXCEPT !.messages = {[m EXCEPT !.by = None] : m \in {x \in @ : x.at < at}}, !.end = at, !.epoch = epoch]]
        /\ UNCHANGED <<now, rows, shard, pending, hints, owner, sched, disp, offset>>

Revive(at) ==
    LET q == queue["bus"]
    IN  /\ ~InMemory /\ at < q.end /\ at \notin {m.at : m \in q.messages} /\ Spend("revivals") /\ Fault
        /\ queue' = [queue EXCEPT !["bus"].revived = @ \union {at}]
        /\ UNCHANGED <<now, rows, shard, pending, hints, owner, sched, disp, offset>>

(* A wall clock jumps, or is corrected. *)
StepClock(n, to) ==
    /\ offset[n] # to /\ Spend("clockSteps") /\ Fault
    /\ offset' = [offset EXCEPT ![n] = to]
    /\ UNCHANGED <<now, rows, shard, pending, hints, queue, owner, sched, disp>>

-----------------------------------------------------------------------------
Urgent ==
    \/ MustCommit /\ Commit
    \/ \E s \in Schedulers :
        \/ Assign(s) \/ Claim(s) \/ GiveUp(s) \/ Poll(s) \/ Advance(s) \/ TakeFloor(s) \/ Sweep(s)
        \/ \E h \in hints : TakeHint(s, h)
        \/ \E k \in sched[s].armed : Release(s, k)
    \/ \E d \in Dispatchers :
        \/ Check(d) \/ Deliver(d) \/ Ack(d) \/ GiveBack(d)
        \/ MustFinish(d) /\ Finish(d)
        \/ \E m \in queue[QueueOf(d)].messages : Take(d, m)

Unhurried ==
    \/ ~MustCommit /\ Commit
    \/ \E d \in Dispatchers : ~MustFinish(d) /\ Finish(d)
    \/ \E t \in Timers : BeginDelete(t) \/ \E due \in now..MaxOf(now, WriteUntil) : BeginPut(t, due)

Faults ==
    \/ \E h \in hints : LoseHint(h)
    \/ \E s \in Schedulers : CrashScheduler(s) \/ LosePartition(s) \/ HandOver(s)
    \/ \E d \in Dispatchers : CrashDispatcher(d)
    \/ \E p \in Schedulers : CrashProcess(p)
    \/ ~InMemory /\ \E at \in 1..queue["bus"].end : LoseTail(at) \/ Revive(at)
    \/ \E n \in Steppable, to \in {-3, 0, 3} : StepClock(n, to)

Tick ==
    /\ ~ENABLED Urgent
    /\ now < MaxTime
    /\ now' = now + 1
    /\ UNCHANGED <<rows, shard, pending, hints, queue, owner, sched, disp, offset, ghost, budget>>

Next == Urgent \/ Unhurried \/ Faults \/ Tick

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Invariants. *)

(* I7, I8: no timer is delivered early, or after an answer that excluded the delivery; I2: no row is removed
   without its delivery. *)
NeverWrong == ghost.wrong = "no"

(* No timer is lost, and none needs the long bound. *)
DeliveredInTime == now = MaxTime => (Present = {} /\ pending = NoWrite)

(* Only faults cause duplicates, on the queue (I12) and for the receiver. *)
OnceWithoutFaults ==
    ghost.faults = 0 =>
        /\ \A i \in Ids : ghost.delivered[i] <= 1
        /\ \A q \in Queues : \A m, n \in queue[q].messages : m.id = n.id => m = n

(* I6: rows below the watermark were published, unless their commit took longer than the slack.  A publication
   in memory does not count, because it does not survive the process. *)
WatermarkCovers ==
    \A t \in Present :
        Key(rows[t].due, t) <= shard.watermark =>
            \/ rows[t].id \in ghost.published /\ ~InMemory
            \/ rows[t].id \in ghost.slow
=============================================================================
