package console

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/audit/trail"
)

const (
	maxCalls        = 10_000
	maxRows         = 2 * maxCalls // maximum number of rows, including those for events other than calls
	maxRecordsHeld  = 2 * maxRows  // maximum number of unread records that the feed holds
	maxRecordsKnown = 2 * maxRows  // number of record IDs that are remembered to detect duplicates

	pastRecords = 5 * maxCalls / 2
	pastBytes   = 32 << 20
	pastTime    = 20 * time.Second // time limit for reading the records stored before the journal was opened

	othersInterval  = 2 * time.Second // interval between reads of the records that other processes write to a database
	othersAfterView = time.Minute     // how long after the last page view the journal still reads records from other processes
	othersTime      = 2 * time.Second // timeout for reading records from other processes
	othersRecords   = maxRows         // maximum number of records to read at a time from each of the other processes
)

// A journal holds the newest calls and other events. It starts with the stored records and then
// follows the audit feed. It is safe for concurrent use.
type journal struct {
	now   func() time.Time
	began time.Time
	done  chan struct{} // closed when run returns

	mu         sync.Mutex
	rows       []*row             // oldest first
	first      uint64             // row number of the oldest row
	calls      int                // number of rows that are calls
	admitted   map[callKey]uint64 // row number of the latest admitted call, keyed by session and call number
	known      map[string]bool    // IDs of the added records
	order      []string           // IDs of the added records, oldest first
	lost       int
	unreadable int
	past       error // error that explains why stored records are missing; nil if no records are missing, or if records are not stored
	reading    bool  // whether stored records are still being read
	viewedAt   time.Time
	changed    chan struct{} // closed when the journal changes
}

type callKey struct {
	session string
	call    uint64
}

func newJournal(now func() time.Time) *journal {
	return &journal{now: now, began: now(), done: make(chan struct{}), first: 1, admitted: map[callKey]uint64{}, known: map[string]bool{}, changed: make(chan struct{})}
}

// run adds records to the journal until ctx is done. If a source of stored records is given, run
// first adds the newest of these records and sends them to the given channel, or sends nil if
// reading them fails. The channel must be buffered. run then adds new records from the audit feed.
// If the source is a database, run also adds the records of other processes while someone views a
// page.
//
// If the follower of the feed is nil, run returns at once. Otherwise, run closes the follower at
// the end.
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

// readPast reads the stored records and adds them.
func (j *journal) readPast(ctx context.Context, past trail.Source) []trail.Record {
	j.setReading(true, nil)
	ctx, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	records, err := trail.Recent(ctx, past, pastRecords, pastBytes)
	j.add(eventsOf(records), 0)
	j.setReading(false, err)
	if err != nil {
		return nil // the newest records may be missing, so the history must not use any of these records
	}
	return records
}

// readOthers adds new records that other processes have written to the database.
func (j *journal) readOthers(ctx context.Context, others *trail.Others) {
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	records, _ := others.Read(ctx, othersRecords) // if reading fails, the records are read at the next tick
	j.add(eventsOf(records), 0)
}

func eventsOf(records []trail.Record) [][]byte {
	return list.Map(records, func(r trail.Record) []byte { return r.Event })
}

func (j *journal) setReading(on bool, err error) {
	if err != nil && errors.Is(err, context.Canceled) {
		err = nil // the console is being closed, which is not a failure
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reading, j.past = on, err
	j.signal()
}

// add adds records, oldest first, and counts the records that were lost before them.
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

// signal wakes all goroutines that wait for a change. The caller must hold the lock.
func (j *journal) signal() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// addRecord adds a record, unless it has already been added. The record updates the row of its
// call, becomes a new row, or does both. addRecord reports whether it has updated a row. The caller
// must hold the lock.
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
		j.addDecision(decisionRow(id, record, &e))
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

// remember stores the ID of a record that has been added, so that the record is not added again.
// The caller must hold the lock.
func (j *journal) remember(id string) {
	j.known[id] = true
	if j.order = append(j.order, id); len(j.order) > maxRecordsKnown {
		delete(j.known, j.order[0])
		j.order = j.order[1:]
	}
}

func (j *journal) appendRow(r *row) {
	r.n = j.first + uint64(len(j.rows))
	j.rows = append(j.rows, r)
	if r.IsCall() {
		j.calls++
	}
}

func (j *journal) addDecision(r *row) {
	j.appendRow(r)
	if r.Call > 0 && r.Decision == "allow" {
		j.admitted[callKey{r.Session, r.Call}] = r.n
	}
}

// addOutcome adds an outcome to the row of its call. If the journal does not contain the call,
// addOutcome adds a new row and returns false.
func (j *journal) addOutcome(id string, e *trail.Entry) (joined bool) {
	joined = j.updateRow(e, func(r *row) bool { return r.isOutcome(e) }, func(r *row) { r.end(e) })
	if !joined {
		j.appendRow(outcomeRow(id, e))
	}
	return joined
}

// updateRow calls modify on a copy of the row of e's call, and replaces the row with that copy. If
// the journal does not contain the row, or if match returns false for it, updateRow does nothing
// and returns false.
func (j *journal) updateRow(e *trail.Entry, match func(*row) bool, modify func(*row)) bool {
	n, ok := j.admitted[callKey{e.Session, e.Call}]
	if !ok || n < j.first || !match(j.rows[n-j.first]) {
		return false
	}
	own := *j.rows[n-j.first]
	modify(&own)
	j.rows[n-j.first] = &own
	return true
}

// trim drops the oldest rows beyond the limits. The caller must hold the lock.
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

// A journalStatus describes how complete the journal is.
type journalStatus struct {
	Began   time.Time // time when the journal was opened
	First   time.Time // time of the oldest row; zero if the journal is empty
	Calls   int
	Full    bool // whether the oldest rows were dropped because the journal was full
	Lost    int  // number of records that were dropped because they were not read in time
	Torn    int  // number of records that could not be parsed
	Reading bool // whether stored records are still being read
	Past    error
}

// status describes how complete the journal is.
func (j *journal) status() journalStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := journalStatus{Began: j.began, Calls: j.calls, Full: j.first > 1, Lost: j.lost, Torn: j.unreadable, Reading: j.reading, Past: j.past}
	if len(j.rows) > 0 {
		s.First = j.rows[0].Time
	}
	return s
}

// markViewed stores the current time as the time of the last page view.
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

// nextChange returns a channel that is closed when the journal changes.
func (j *journal) nextChange() <-chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changed
}

// updateInterval is the minimum time between two updates of an open page.
const updateInterval = time.Second

// updates returns a channel that receives a value after the journal has changed, at most once per
// updateInterval, until ctx is done.
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
