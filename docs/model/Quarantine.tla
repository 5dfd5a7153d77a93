----------------------------- MODULE Quarantine -----------------------------
(***************************************************************************)
(* Poison timers crash the process that delivers them; innocent timers do  *)
(* not.  If a message is redelivered, its timer may have crashed the       *)
(* process, or another timer in that process has, or the bus or the store  *)
(* failed for a while.  The dispatcher counts such starts in the row and   *)
(* parks a timer after ParkAfter of them.  Until then it reduces the       *)
(* number of timers that run together, so that innocent timers get a       *)
(* result, which resets their count.  A long delivery has a row lease: its *)
(* message is acknowledged, and a new event follows when the lease expires.*)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
    Innocents, Poisons,     \* timers
    Processes,
    ParkAfter,              \* counted starts without a result
    Small, Smaller,         \* largest number of timers with 2, and with more, counted starts that run together in a process
    Outages,                \* how often bus or store fail and all messages are redelivered
    Broken

Timers == Innocents \union Poisons
Symmetry == Permutations(Innocents) \union Permutations(Poisons) \union Permutations(Processes)

VARIABLES
    place,      \* where each timer is: "queue", a process, "done" or "parked"
    starts,     \* counted starts in its row
    counted,    \* its row contains the running start
    leased,     \* it has a row lease
    again,      \* its message is a redelivery
    kills, outages

vars == <<place, starts, counted, leased, again, kills, outages>>

Init ==
    /\ place = [t \in Timers |-> "queue"]
    /\ starts = [t \in Timers |-> 0]
    /\ counted = [t \in Timers |-> FALSE]
    /\ leased = [t \in Timers |-> FALSE]
    /\ again = [t \in Timers |-> FALSE]
    /\ kills = 0 /\ outages = 0

Running(p) == {t \in Timers : place[t] = p}
Exposed(p) == {t \in Running(p) : ~leased[t]}
Queued == {t \in Timers : place[t] = "queue"}

(* The start of a redelivered message is counted before it begins, and so is every start of a timer with two counted
   starts.  A lease counts other starts. *)
Counts(t) == again[t] \/ starts[t] >= 2
Counted(t) == starts[t] + (IF Counts(t) THEN 1 ELSE 0)

(* Group(n) is how many timers with at least n counted starts may run together in one process without a lease.  The last two
   starts before parking are isolated: only leased timers that are not quarantined may run in the process.  Without outages one
   isolated start would be enough. *)
Unbounded == Cardinality(Timers)
Group(n) ==
    CASE "no groups" \in Broken -> Unbounded
      [] "alone at once" \in Broken /\ n >= 1 -> 1
      [] n <= 1 -> Unbounded
      [] n = 2 -> Small
      [] OTHER -> Smaller
Last(n) == n >= ParkAfter - (IF "one alone" \in Broken THEN 0 ELSE 1) /\ "no groups" \notin Broken
Suspects(p) == {t \in (IF "only exposed" \in Broken THEN Exposed(p) ELSE Running(p)) : starts[t] >= 2}

(* The counts of the timers that run in p include the running start. *)
Fits(p, t) ==
    /\ \A n \in 1..Counted(t) : Cardinality({u \in Exposed(p) : starts[u] >= n}) < Group(n)
    /\ ~\E u \in Exposed(p) : Last(starts[u])
    /\ Last(Counted(t)) => Exposed(p) = {} /\ Suspects(p) = {}
    /\ Counted(t) >= 2 => ~\E u \in Suspects(p) : Last(starts[u])

Begin(p, t) ==
    /\ place[t] = "queue" /\ starts[t] < ParkAfter /\ Fits(p, t)
    /\ place' = [place EXCEPT ![t] = p]
    /\ starts' = [starts EXCEPT ![t] = Counted(t)]
    /\ counted' = [counted EXCEPT ![t] = Counts(t)]
    /\ UNCHANGED <<leased, again, kills, outages>>

Lease(t) ==
    /\ place[t] \in Processes /\ ~leased[t]
    /\ leased' = [leased EXCEPT ![t] = TRUE]
    /\ starts' = [starts EXCEPT ![t] = IF counted[t] THEN @ ELSE @ + 1]
    /\ counted' = [counted EXCEPT ![t] = TRUE]
    /\ UNCHANGED <<place, again, kills, outages>>

Park(t) ==
    /\ place[t] = "queue" /\ starts[t] >= ParkAfter
    /\ place' = [place EXCEPT ![t] = "parked"]
    /\ UNCHANGED <<starts, counted, leased, again, kills, outages>>

(* A result ends the processing of a message.  Every innocent timer gets one eventually. *)
Result(t) ==
    /\ t \in Innocents /\ place[t] \in Processes
    /\ place' = [place EXCEPT ![t] = "done"]
    /\ starts' = [starts EXCEPT ![t] = 0]
    /\ counted' = [counted EXCEPT ![t] = FALSE]
    /\ leased' = [leased EXCEPT ![t] = FALSE]
    /\ again' = [again EXCEPT ![t] = FALSE]
    /\ UNCHANGED <<kills, outages>>

ComeAgain(which) ==
    /\ place' = [t \in Timers |-> IF t \in which THEN "queue" ELSE place[t]]
    /\ again' = [t \in Timers |-> IF t \in which THEN ~leased[t] ELSE again[t]]
    /\ leased' = [t \in Timers |-> leased[t] /\ t \notin which]
    /\ counted' = [t \in Timers |-> counted[t] /\ t \notin which]
    /\ UNCHANGED starts

Kill(p) ==
    /\ Running(p) \intersect Poisons # {}
    /\ ComeAgain(Running(p))
    /\ kills' = kills + 1
    /\ UNCHANGED outages

(* A host has no free permit for a timer.  Its row is postponed, and the next event is a first delivery.
   If the refused message was a redelivery, the next event counts as one, too. *)
Refuse(t) ==
    /\ place[t] = "queue"
    /\ again' = [again EXCEPT ![t] = @ /\ "refusals forget" \notin Broken]
    /\ starts' = [starts EXCEPT ![t] = IF again[t] /\ @ < 2 /\ "refusals count" \in Broken THEN @ + 1 ELSE @]
    /\ UNCHANGED <<place, counted, leased, kills, outages>>

(* The processes survive, but no running delivery records its result before its message is redelivered. *)
Outage ==
    /\ outages < Outages
    /\ \E which \in SUBSET {t \in Timers : place[t] \in Processes} : which # {} /\ ComeAgain(which)
    /\ outages' = outages + 1
    /\ UNCHANGED kills

Next ==
    \/ \E p \in Processes : Kill(p) \/ \E t \in Timers : Begin(p, t)
    \/ \E t \in Timers : Park(t) \/ Lease(t) \/ Result(t) \/ Refuse(t)
    \/ Outage

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

(* Innocent timers are never parked. *)
InnocentsGoFree == \A t \in Innocents : place[t] # "parked"

(* A poison timer crashes at most ParkAfter + 2 processes: its first start is not counted, and neither is the first start by
   the event that follows a lease. *)
KillsAreBounded == kills <= Cardinality(Poisons) * (ParkAfter + 2)

(* An outage alone limits nothing: every timer may begin immediately, regardless of the running timers. *)
OutagesNarrowNothing ==
    kills = 0 /\ outages <= 1 => \A t \in Queued, p \in Processes : Fits(p, t)

(* Eventually every poison timer is parked and every innocent timer is done. *)
Settles == <>[](\A t \in Timers : place[t] = IF t \in Poisons THEN "parked" ELSE "done")
=============================================================================
