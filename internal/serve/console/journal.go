package console

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

const (
	maxCalls = 10_000
	maxRows  = 2 * maxCalls // with what are no calls
	maxRecordsHeld  = 2 * maxRows  // by the feed, until they are taken
	maxRecordsKnown = 2 * maxRows  // so that none is taken twice

	pastRecords = 5 * maxCalls / 2
	pastBytes   = 32 << 20
	pastTime    = 20 * time.Second // to read it

	othersInterval   = 2 * time.Second // a database is read again, for what others write
	othersAfterView   = time.Minute     // after somebody looked
	othersTime    = 2 * time.Second // to read it
	othersRecords = maxRows     // of each of them at a time
)

// A journal has the newest calls, and what else happened. It begins with the records of
// before, and goes on with those that come. It is safe for concurrent use.
type journal struct {
	now   func() time.Time
	began time.Time
	done  chan struct{} // closed when run has ended

	mu      sync.Mutex
	rows    []*row // the oldest first; the first has the number first
	first   uint64
	calls   int                // of the rows
	admitted    map[callKey]uint64 // number of the row of the last decision on the call, and not of its outcome alone
	known   map[string]bool    // records that were taken
	order   []string           // the same, the oldest first
	lost    int
	unreadable    int
	past    error // why the records of before are not here; nil: they are, or there are none
	reading bool  // they are being read
	viewedAt  time.Time
	changed chan struct{} // closed with the next row
}

type callKey struct {
	session string
	call    uint64
}

func newJournal(now func() time.Time) *journal {
	return &journal{now: now, began: now(), done: make(chan struct{}), first: 1, admitted: map[callKey]uint64{}, known: map[string]bool{}, changed: make(chan struct{})}
}

// run adds the records of past, then the records that live receives, until ctx ends, and closes
// live. It also sends the records of past to read, which needs a buffer. past and live can be nil.
func (j *journal) run(ctx context.Context, live *audit.Follower, past trail.Source, read chan<- []trail.Record) {
	defer close(j.done)
	if live == nil {
		return
	}
	defer live.Close()
	var others *trail.Others
	if database, ok := past.(trail.Database); ok {
		others = database.Others(ctx)
	}
	if past != nil {
		read <- j.readPast(ctx, past)
	}
	tick := time.NewTicker(othersInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-live.Ready():
			j.add(live.Take())
		case <-tick.C:
			if others != nil && j.recentlyViewed() {
				j.readOthers(ctx, others)
			}
		}
	}
}

// readPast reads the records of before.
func (j *journal) readPast(ctx context.Context, past trail.Source) []trail.Record {
	j.setReading(true, nil)
	ctx, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	records, err := trail.Recent(ctx, past, pastRecords, pastBytes)
	j.add(eventsOf(records), 0)
	j.setReading(false, err)
	if err != nil {
		return nil // the newest of them may be missing
	}
	return records
}

// readOthers reads what other processes have written to the database meanwhile.
func (j *journal) readOthers(ctx context.Context, others *trail.Others) {
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	records, _ := others.Read(ctx, othersRecords) // the next time tries again
	j.add(eventsOf(records), 0)
}

func eventsOf(records []trail.Record) (events [][]byte) {
	for i := range records {
		events = append(events, records[i].Event)
	}
	return events
}

func (j *journal) setReading(on bool, err error) {
	if err != nil && errors.Is(err, context.Canceled) {
		err = nil // the console is closed
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reading, j.past = on, err
	j.signal()
}

// add takes records, the oldest first, and how many before them were lost.
func (j *journal) add(records [][]byte, lost int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lost += lost
	before := j.first + uint64(len(j.rows))
	joined := false
	for _, record := range records {
		joined = j.addRecord(record) || joined
	}
	j.trim()
	if joined || lost > 0 || j.first+uint64(len(j.rows)) != before {
		j.signal()
	}
}

// signal tells who waits for a change. It requires the lock.
func (j *journal) signal() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// addRecord takes one record, and reports whether it changed a row. It requires the lock.
func (j *journal) addRecord(record []byte) (joined bool) {
	id := recordID(record)
	if j.known[id] {
		return false
	}
	j.remember(id)
	r := trail.Record{Event: record}
	e, err := r.Entry()
	switch {
	case err != nil:
		j.unreadable++
	case e.Event == "decision":
		j.addDecision(decisionRow(id, &e))
	case e.Event == "outcome":
		return j.addOutcome(id, &e)
	case e.Event == "task":
		return j.updateRow(&e, func(r *row) bool { return r.Tool == e.Canonical() && r.Outcome == "" }, func(r *row) { r.Task = e.Task })
	default:
		if how, ok := strings.CutPrefix(e.Event, "settle "); ok {
			joined = j.updateRow(&e, func(r *row) bool { return r.canBeSettled(&e) }, func(r *row) { r.Settled, r.SettledBy = how, e.Actor })
		}
		if r := eventRow(id, &e); r != nil {
			j.appendRow(r)
		}
		return joined
	}
	return false
}

// remember keeps a record from being taken again. It requires the lock.
func (j *journal) remember(id string) {
	j.known[id] = true
	if j.order = append(j.order, id); len(j.order) > maxRecordsKnown {
		delete(j.known, j.order[0])
		j.order = j.order[1:]
	}
}

func (j *journal) appendRow(r *row) uint64 {
	r.n = j.first + uint64(len(j.rows))
	j.rows = append(j.rows, r)
	if r.IsCall() {
		j.calls++
	}
	return r.n
}

func (j *journal) addDecision(r *row) {
	n := j.appendRow(r)
	if r.Call > 0 && r.Decision == "allow" {
		j.admitted[callKey{r.Session, r.Call}] = n
	}
}

// addOutcome gives an outcome to its call. One of a call that is not here is a row of its own.
func (j *journal) addOutcome(id string, e *trail.Entry) (joined bool) {
	joined = j.updateRow(e, func(r *row) bool { return r.isOutcome(e) }, func(r *row) { r.end(e) })
	if !joined {
		j.appendRow(outcomeRow(id, e))
	}
	return joined
}

// updateRow replaces the row of the call that a record is about.
func (j *journal) updateRow(e *trail.Entry, is func(*row) bool, do func(*row)) bool {
	n, ok := j.admitted[callKey{e.Session, e.Call}]
	if !ok || n < j.first || !is(j.rows[n-j.first]) {
		return false
	}
	own := *j.rows[n-j.first]
	do(&own)
	j.rows[n-j.first] = &own
	return true
}

// trim forgets the oldest rows. It requires the lock.
func (j *journal) trim() {
	for j.calls > maxCalls || len(j.rows) > maxRows {
		r := j.rows[0]
		j.rows[0] = nil
		j.rows = j.rows[1:]
		j.first++
		if r.IsCall() {
			j.calls--
		}
		if key := (callKey{r.Session, r.Call}); j.admitted[key] == r.n {
			delete(j.admitted, key)
		}
	}
}

// all returns the rows, the oldest first.
func (j *journal) all() []*row {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.viewedAt = j.now()
	return slices.Clone(j.rows)
}

// A journalStatus says what the journal has.
type journalStatus struct {
	Began   time.Time // when it began to take what comes
	First   time.Time // of its oldest row; zero: it has none
	Calls   int
	Full    bool // older calls were forgotten
	Lost    int  // records that nobody took in time
	Torn    int  // records that cannot be read
	Reading bool // those of before are being read
	Past    error
}

// status says what the journal has.
func (j *journal) status() journalStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := journalStatus{Began: j.began, Calls: j.calls, Full: j.first > 1, Lost: j.lost, Torn: j.unreadable, Reading: j.reading, Past: j.past}
	if len(j.rows) > 0 {
		s.First = j.rows[0].Time
	}
	return s
}

// markViewed notes that somebody looks at what is shown.
func (j *journal) markViewed() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.viewedAt = j.now()
}

// recentlyViewed reports whether somebody looked lately.
func (j *journal) recentlyViewed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now().Sub(j.viewedAt) < othersAfterView
}

// nextChange returns a channel that is closed with the next row.
func (j *journal) nextChange() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changed
}

// updateInterval is how often pages are told at most.
const updateInterval = time.Second

// updates returns a channel that signals rows added after this call, at most once in newsEvery,
// until ctx ends.
func (j *journal) updates(ctx context.Context) <-chan struct{} {
	out, more := make(chan struct{}), j.nextChange()
	go func() {
		for {
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
			more = j.nextChange()
			select {
			case out <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case <-time.After(updateInterval):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
