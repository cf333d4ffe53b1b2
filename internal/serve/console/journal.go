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
	maxCalls        = 10_000
	maxRows         = 2 * maxCalls // including rows that are not calls
	maxRecordsHeld  = 2 * maxRows  // held by the feed until they are read
	maxRecordsKnown = 2 * maxRows  // remembered, so that none is added twice

	pastRecords = 5 * maxCalls / 2
	pastBytes   = 32 << 20
	pastTime    = 20 * time.Second // limit for reading

	othersInterval  = 2 * time.Second // interval to read records of other processes from a database
	othersAfterView = time.Minute     // how long after the last page view they are read
	othersTime      = 2 * time.Second // limit for reading
	othersRecords   = maxRows         // per process, at a time
)

// A journal holds the newest calls and other events. It starts with earlier records and continues
// with new ones. It is safe for concurrent use.
type journal struct {
	now   func() time.Time
	began time.Time
	done  chan struct{} // closed when run has ended

	mu         sync.Mutex
	rows       []*row // oldest first; the number of the first row is first
	first      uint64
	calls      int                // number of rows that are calls
	admitted   map[callKey]uint64 // number of the row of the last decision to admit the call
	known      map[string]bool    // records that were added
	order      []string           // the same, oldest first
	lost       int
	unreadable int
	past       error // why earlier records are missing; nil: they are complete, or none are kept
	reading    bool  // earlier records are being read
	viewedAt   time.Time
	changed    chan struct{} // closed with the next row
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

// readPast reads the earlier records.
func (j *journal) readPast(ctx context.Context, past trail.Source) []trail.Record {
	j.setReading(true, nil)
	ctx, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	records, err := trail.Recent(ctx, past, pastRecords, pastBytes)
	j.add(eventsOf(records), 0)
	j.setReading(false, err)
	if err != nil {
		return nil // the newest records may be missing
	}
	return records
}

// readOthers reads new records of other processes from the database.
func (j *journal) readOthers(ctx context.Context, others *trail.Others) {
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	records, _ := others.Read(ctx, othersRecords) // retried at the next tick
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

// add adds records, oldest first. lost is the number of records lost before them.
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

// signal wakes everyone who waits for a change. The caller must hold the lock.
func (j *journal) signal() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// addRecord adds one record and reports whether it changed a row. The caller must hold the lock.
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

// remember prevents a record from being added again. The caller must hold the lock.
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

// addOutcome adds an outcome to the row of its call, or as a new row if the journal does not have
// the call.
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

// trim drops the oldest rows. The caller must hold the lock.
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

// all returns the rows, oldest first.
func (j *journal) all() []*row {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.viewedAt = j.now()
	return slices.Clone(j.rows)
}

// A journalStatus describes the content of the journal.
type journalStatus struct {
	Began   time.Time // time of the first live record that it could receive
	First   time.Time // time of its oldest row; zero: no rows
	Calls   int
	Full    bool // older calls were dropped
	Lost    int  // records that were not read in time
	Torn    int  // records that could not be parsed
	Reading bool // earlier records are being read
	Past    error
}

// status returns the status of the journal.
func (j *journal) status() journalStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := journalStatus{Began: j.began, Calls: j.calls, Full: j.first > 1, Lost: j.lost, Torn: j.unreadable, Reading: j.reading, Past: j.past}
	if len(j.rows) > 0 {
		s.First = j.rows[0].Time
	}
	return s
}

// markViewed records that a page is being viewed.
func (j *journal) markViewed() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.viewedAt = j.now()
}

// recentlyViewed reports whether a page was viewed recently.
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

// updateInterval is the minimum time between two updates of a page.
const updateInterval = time.Second

// updates returns a channel that signals rows added after this call, at most once in
// updateInterval, until ctx ends.
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
