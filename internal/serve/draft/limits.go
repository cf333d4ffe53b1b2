package draft

import (
	"errors"
	"fmt"
	"time"
)

// Limits of the work for one draft.
const (
	MaxText       = 256 << 10 // bytes
	MaxRules      = 2000      // the work for a policy grows with the square of the number of rules
	checkTime     = 5 * time.Second
	proofTime     = 4 * time.Second // CPU time; less than checkTime, so that a check returns partial results in time
	compareTime   = 5 * time.Second
	replayTime    = 10 * time.Second
	maxRecords    = 100_000 // records that are replayed
	maxShown      = 100     // changed decisions, or problems
	maxConcurrent = 2       // checks and comparisons
)

var (
	// ErrGone is returned if the policy in force no longer has this text.
	ErrGone = errors.New("the policy in force has changed meanwhile and no longer contains this text; reload the page")
	// ErrLong is returned if the text has more than [MaxText] bytes.
	ErrLong = fmt.Errorf("the text has more than %d KiB; use petrigate check with a file", MaxText>>10)
	// ErrMany is returned if the text has more than [MaxRules] rules.
	ErrMany = fmt.Errorf("the text has more than %d rules; use petrigate check with a file", MaxRules)
	// ErrSlow is returned if the time limit has passed.
	ErrSlow = errors.New("this takes too long for the console; use petrigate check, diff or replay")
	// ErrBusy is returned while another replay is running.
	ErrBusy = errors.New("the record is being read for another draft; try again later")
	// ErrNoRecord is returned if no decisions are recorded that could be replayed.
	ErrNoRecord = errors.New("there are no records: this proxy has neither a database (state.driver) nor an audit log (audit.file)")
)
