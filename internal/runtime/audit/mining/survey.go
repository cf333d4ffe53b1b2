package mining

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/petrigate/petrigate/internal/policy/toolkind"
)

// A pairStats holds the statistics of a pair of tools, A and B.
type pairStats struct {
	notOnce, notEach bool // notOnce: whether "A before B once" is refuted by a session with both tools, or by a call to both; notEach: whether "A before B" is refuted by a session with both tools, valid only while notOnce is false
	shared           bool // whether any call was a call to both A and B; a call can have several names
	sessions         int  // number of sessions with both A and B, counted while notOnce is false
	once, each       chance
	earlier          int    // number of sessions where a call to A succeeded before B was called
	early            uint64 // bit i is set if a call to A succeeded before B was called in the i-th session with B, counting from 0

	after       bool // whether B was called after A
	both        int
	beforeFirst chance // chance that, with all calls in random order, no session has a call to B after a call to A
}

type toolStats struct {
	calls, sessions int
	held            int // number of sessions with a successful call to the tool
	opened          int // number of sessions that began with the tool: a call to it succeeded within the first two events, or within the first eighth of the session's events
	first           time.Time
	perSession      map[int]int        // maps each number of calls to the number of sessions with that many calls
	perDay          map[int]int        // maps each number of calls to the number of days with that many calls by one principal
	fields          map[string]int     // maps each field to the number of calls that have it
	sums            map[string]float64 // maps each field to its maximum sum for one principal in a day
}

// A survey is the [visitor] of the first pass over the log. It collects statistics about all tools
// and pairs of tools.
type survey struct {
	pairs    map[pair]*pairStats
	tools    []toolStats
	sessions int
	calls    int
	partial  int // number of sessions left out because they began before the log
	from, to time.Time

	days   map[dayKey]*dayCount
	run    int  // maximum number of consecutive identical calls
	rowOff bool // whether there was a call that could not be compared with other calls
}

type dayKey struct {
	principal string
	tool      int
}

type dayCount struct {
	day   int64
	calls int
	sums  map[string]float64
}

func newSurvey() *survey {
	return &survey{pairs: map[pair]*pairStats{}, days: map[dayKey]*dayCount{}}
}

func (v *survey) of(p pair) *pairStats { return entry(v.pairs, p, math.MaxInt) }

func (v *survey) tool(n int) *toolStats {
	for len(v.tools) <= n {
		v.tools = append(v.tools, toolStats{perSession: map[int]int{}, perDay: map[int]int{}, fields: map[string]int{}, sums: map[string]float64{}})
	}
	return &v.tools[n]
}

func (v *survey) admit(s *session, a *action) {
	v.calls++
	if v.from.IsZero() || a.time.Before(v.from) {
		v.from = a.time
	}
	if a.time.After(v.to) {
		v.to = a.time
	}
	v.row(s, a)
	for _, n := range a.names {
		all := v.tool(n.tool)
		if all.calls++; all.first.IsZero() {
			all.first = a.time
		}
		for _, f := range a.values {
			all.fields[f.field]++
		}
		v.day(n.tool, a, all)
		v.check(s, n.tool, a.names)
	}
}

// check is called for each call to B. It updates the statistics of all pairs (A, B) with the
// earlier calls of the session.
func (v *survey) check(s *session, b int, names []callName) {
	mine := s.tool(b)
	for n, other := range s.tools {
		if n == b {
			continue
		}
		p := v.of(pair{n, b})
		p.notEach = p.notEach || other.lastOK <= mine.lastMade
		p.after = p.after || other.made > 0
	}
	for _, n := range names {
		if n.tool != b {
			v.of(pair{n.tool, b}).shared = true
		}
	}
}

// day counts the call under its principal and day, and adds up the amounts in its arguments.
func (v *survey) day(tool int, a *action, all *toolStats) {
	key, day := dayKey{a.principal, tool}, a.time.Unix()/(24*60*60)
	d := entry(v.days, key, math.MaxInt)
	if d.day != day {
		if d.calls > 0 {
			all.perDay[d.calls]++
		}
		*d = dayCount{day: day}
	}
	d.calls++
	for _, f := range a.values {
		n, err := strconv.ParseFloat(f.value, 64)
		if err != nil || !toolkind.IsAmount(f.field) {
			continue
		}
		if d.sums == nil {
			d.sums = map[string]float64{}
		}
		d.sums[f.field] += n
		all.sums[f.field] = max(all.sums[f.field], d.sums[f.field])
	}
}

// row counts consecutive identical calls, as long as all calls in the log can be compared.
func (v *survey) row(s *session, a *action) {
	if v.rowOff = v.rowOff || a.row == ""; v.rowOff {
		return
	}
	if a.row != s.lastRow {
		s.lastRow, s.run = a.row, 0
	}
	s.run++
	v.run = max(v.run, s.run)
}

func (v *survey) succeed(*session, *action) {}

// end adds the counts of an ended session to the statistics, unless the session is partial.
func (v *survey) end(s *session) {
	switch {
	case s.partial:
		v.partial++
		return
	case len(s.tools) == 0:
		return
	}
	v.sessions++
	order := slices.Sorted(maps.Keys(s.tools)) // sorted, so that the tools are visited in a fixed order
	for _, b := range order {
		t := s.tools[b]
		if t.made == 0 {
			continue
		}
		all := v.tool(b)
		if t.ok > 0 {
			all.held++
		}
		if t.ok > 0 && t.firstOK <= max(2, s.clock/8) {
			all.opened++
		}
		all.sessions++
		all.perSession[t.made]++
		for _, a := range order {
			if a != b {
				v.addPair(pair{a, b}, s.tools[a], t)
			}
		}
	}
}

// samples is the maximum number of sessions recorded in pairStats.early, one bit each.
const samples = 64

// addPair adds a session with both A and B to the statistics of the pair. Sessions with B but not A
// are not added; alwaysBefore takes them into account.
func (v *survey) addPair(p pair, a, b *toolState) {
	s := v.of(p)
	early := a.before(b)
	if early {
		s.earlier++
	}
	if n := v.tools[p.b].sessions; early && n <= samples {
		s.early |= 1 << (n - 1)
	}
	s.notOnce = s.notOnce || s.shared || !early
	if !s.notOnce {
		s.sessions++
		s.once += onceByChance(a.ok, b.made)
		if !s.notEach {
			s.each += eachByChance(a.ok, b.made)
		}
	}
	if a.made > 0 && !s.after {
		s.both++
		s.beforeFirst += noneAfterByChance(a.made, b.made)
	}
}

// finish adds the last day of each tool and principal to the statistics. Each earlier day was added
// when the first call of a later day was read.
func (v *survey) finish() {
	for key, d := range v.days {
		v.tool(key.tool).perDay[d.calls]++
	}
	clear(v.days)
}

// alwaysBefore reports whether a call to A succeeded before B was called in all sessions with B. It
// returns false if fewer than the given number of sessions have B.
func (v *survey) alwaysBefore(p pair, least int) bool {
	s := v.pairs[p]
	return s != nil && !s.notOnce && s.sessions >= least && s.sessions == v.tools[p.b].sessions
}

// opens reports whether most sessions that use the tool begin with it. Such a tool comes before all
// others even if they do not need it, so its position alone does not support a rule. If only a few
// tools are used in at least the given number of sessions, opens returns false; see
// minToolsForOpening.
func (v *survey) opens(tool, least int) bool {
	n := 0
	for _, t := range v.tools {
		if t.sessions >= least {
			n++
		}
	}
	t := v.tools[tool]
	return n > minToolsForOpening && 5*t.opened >= 4*t.sessions
}

// needed returns the chance that every session with B also has A, assuming that A is as likely in
// sessions with B as in other sessions.
func (v *survey) needed(p pair) chance {
	b := v.tools[p.b].sessions
	return presentByChance(b, v.tools[p.a].held-b, v.sessions-b)
}

// If a log has at most minToolsForOpening frequently used tools, [survey.opens] returns false.
const minToolsForOpening = 5

// shared returns the sorted names of the fields that are present in every call to each of the
// tools.
func (v *survey) shared(tools ...int) []string {
	fields := slices.Sorted(maps.Keys(v.tools[tools[0]].fields))
	for _, t := range tools {
		fields = slices.DeleteFunc(fields, func(f string) bool { return v.tools[t].fields[f] != v.tools[t].calls })
	}
	return fields
}
