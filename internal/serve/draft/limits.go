package draft

import (
	"errors"
	"fmt"
	"time"
)

// Limits on evaluating a draft.
const (
	MaxText       = 256 << 10 // maximum size in bytes of a draft or of a file to edit
	MaxRules      = 2000      // maximum number of rules in a draft; the amount of work grows with the square of this number
	checkTime     = 5 * time.Second
	proofTime     = 4 * time.Second // maximum CPU time for the proofs of a check; less than checkTime, so that enough time remains to return partial results
	compareTime   = 5 * time.Second
	replayTime    = 10 * time.Second
	maxRecords    = 100_000 // maximum number of records to replay
	maxShown      = 100     // maximum number of changed decisions or problems to list
	maxConcurrent = 2       // maximum number of concurrent checks and comparisons
)

var (
	// ErrGone means that the policy in force no longer contains the text that the draft would
	// replace.
	ErrGone = errors.New("the policy in force has changed meanwhile and no longer contains this text; reload the page")
	// ErrLong means that the draft is longer than [MaxText] bytes.
	ErrLong = fmt.Errorf("the text has more than %d KiB; use petrigate check with a file", MaxText>>10)
	// ErrMany means that the draft contains more than [MaxRules] rules.
	ErrMany = fmt.Errorf("the text has more than %d rules; use petrigate check with a file", MaxRules)
	// ErrSlow means that the time limit was exceeded.
	ErrSlow = errors.New("this takes too long for the console; use petrigate check, diff or replay")
	// ErrBusy means that another replay is running.
	ErrBusy = errors.New("the record is being read for another draft; try again later")
	// ErrNoRecord means that no decisions are recorded, so none can be replayed.
	ErrNoRecord = errors.New("there are no records: this proxy has neither a database (state.driver) nor an audit log (audit.file)")
)
