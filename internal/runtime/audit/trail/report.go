package trail

import (
	"fmt"
	"slices"
)

// A Report is the result of [Verify] or [VerifyChains].
type Report struct {
	Records  uint64   `json:"records"`
	Files    []string `json:"files,omitempty"` // the files read, oldest first
	Chains   int      `json:"chains"`
	Faults   []Fault  `json:"faults"`   // the first fault of each chain (later records of the chain cannot be verified), and damage to the head file or database
	Warnings []string `json:"warnings"` // what could not be verified and why

	Removed *Removed `json:"removed,omitempty"` // old records that were removed from a database; may be nil

	// Headless is true if the log's head file, which stores the number and hash of the last record,
	// is missing or unreadable, or if it is empty or incomplete although the log has records.
	// Missing records at the end of the log might then go unnoticed.
	Headless bool `json:"headless,omitempty"`
}

// OK reports whether no faults were found.
func (r *Report) OK() bool { return len(r.Faults) == 0 }

// faulty reports whether a fault was found in the writer's chain.
func (r *Report) faulty(writer string) bool {
	return slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Writer == writer })
}

// A Fault describes the first missing or changed record of a chain.
type Fault struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Writer string `json:"writer,omitempty"`
	Seq    uint64 `json:"seq"` // number of the record, actual or expected
	What   string `json:"what"`
}

// String returns the fault's position and description.
func (f Fault) String() string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What)
	case f.File != "":
		return f.File + ": " + f.What
	default:
		return fmt.Sprintf("chain %s, record %d: %s", f.Writer, f.Seq, f.What)
	}
}
