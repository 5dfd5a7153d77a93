----------------------------- MODULE Quarantine -----------------------------
(***************************************************************************)
(* Timers that crash the process that delivers them, among timers that do  *)
(* not.  A message that comes again may have crashed its process, or was   *)
(* only near one that did, or the bus or the store failed for a while.     *)
(* The dispatcher counts such starts in the row, parks a timer after       *)
(* ParkAfter of them, and until then narrows the group of timers that it   *)
(* runs together, so that the innocent ones get a result, which resets     *)
(* their count.                                                            *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
    Innocents, Poisons,     \* timers
    Processes,
    ParkAfter,              \* counted starts without a result
    Small, Smaller,         \* how many timers with 2, and with 3, counted starts run together in a process
    Outages,                \* how often bus or store fail and all messages come again
    Broken

Timers == Innocents \union Poisons
Symmetry == Permutations(Innocents) \union Permutations(Poisons) \union Permutations(Processes)

VARIABLES
    place,      \* of each timer: "queue", a process, "done" or "parked"
    starts,     \* counted starts in its row
    again,      \* its message is a redelivery
    kills, outages

vars == <<place, starts, again, kills, outages>>

Init ==
    /\ place = [t \in Timers |-> "queue"]
    /\ starts = [t \in Timers |-> 0]
    /\ again = [t \in Timers |-> FALSE]
    /\ kills = 0 /\ outages = 0

Running(p) == {t \in Timers : place[t] = p}
Queued == {t \in Timers : place[t] = "queue"}

(* How many timers with at least so many counted starts may run together in one process.  The last start before
   parking is made with nothing else in the process. *)
Unbounded == Cardinality(Timers)
Group(n) ==
    CASE "no groups" \in Broken -> Unbounded
      [] "alone at once" \in Broken /\ n >= 1 -> 1
      [] n <= 1 -> Unbounded
      [] n = 2 -> Small
      [] n = 3 -> Smaller
      [] OTHER -> 1
Last(n) == n >= ParkAfter - 1 /\ "no groups" \notin Broken

Counted(t) == starts[t] + (IF again[t] THEN 1 ELSE 0)

(* The counts of the timers that run in p are those after the start was counted. *)
Fits(p, t) ==
    /\ \A n \in 1..Counted(t) : Cardinality({u \in Running(p) : starts[u] >= n}) < Group(n)
    /\ Last(Counted(t)) => Running(p) = {}
    /\ ~\E u \in Running(p) : Last(starts[u])

Begin(p, t) ==
    /\ place[t] = "queue" /\ starts[t] < ParkAfter /\ Fits(p, t)
    /\ place' = [place EXCEPT ![t] = p]
    /\ starts' = [starts EXCEPT ![t] = Counted(t)]
    /\ UNCHANGED <<again, kills, outages>>

Park(t) ==
    /\ place[t] = "queue" /\ starts[t] >= ParkAfter
    /\ place' = [place EXCEPT ![t] = "parked"]
    /\ UNCHANGED <<starts, again, kills, outages>>

(* A result ends the life of a message.  Innocents have one sooner or later. *)
Result(t) ==
    /\ t \in Innocents /\ place[t] \in Processes
    /\ place' = [place EXCEPT ![t] = "done"]
    /\ starts' = [starts EXCEPT ![t] = 0]
    /\ again' = [again EXCEPT ![t] = FALSE]
    /\ UNCHANGED <<kills, outages>>

ComeAgain(which) ==
    /\ place' = [t \in Timers |-> IF t \in which THEN "queue" ELSE place[t]]
    /\ again' = [t \in Timers |-> again[t] \/ t \in which]
    /\ UNCHANGED starts

Kill(p) ==
    /\ Running(p) \intersect Poisons # {}
    /\ ComeAgain(Running(p))
    /\ kills' = kills + 1
    /\ UNCHANGED outages

(* The processes live on, but nothing that runs gets its result recorded before its message comes again. *)
Outage ==
    /\ outages < Outages
    /\ \E which \in SUBSET {t \in Timers : place[t] \in Processes} : which # {} /\ ComeAgain(which)
    /\ outages' = outages + 1
    /\ UNCHANGED kills

Next ==
    \/ \E p \in Processes : Kill(p) \/ \E t \in Timers : Begin(p, t)
    \/ \E t \in Timers : Park(t) \/ Result(t)
    \/ Outage

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

(* Innocent timers are never parked. *)
InnocentsGoFree == \A t \in Innocents : place[t] # "parked"

(* A poison timer kills at most ParkAfter + 1 times: its first start is not counted. *)
KillsAreBounded == kills <= Cardinality(Poisons) * (ParkAfter + 1)

(* An outage alone narrows nothing: every timer may begin at once, whatever runs. *)
OutagesNarrowNothing ==
    kills = 0 /\ outages <= 1 => \A t \in Queued, p \in Processes : Fits(p, t)

(* In the end every poison timer is parked and every innocent one is done. *)
Settles == <>[](\A t \in Timers : place[t] = IF t \in Poisons THEN "parked" ELSE "done")
=============================================================================
