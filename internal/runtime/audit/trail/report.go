package trail

import (
	"fmt"
	"slices"
)

// A Report is the result of [Verify] or [VerifyChains].
type Report struct {
	Records  uint64   `json:"records"`
	Files    []string `json:"files,omitempty"` // files read, oldest first
	Chains   int      `json:"chains"`
	Faults   []Fault  `json:"faults"`   // at most one fault per chain, because the records after a fault cannot be judged
	Warnings []string `json:"warnings"` // what could not be verified, and why

	Removed *Removed `json:"removed,omitempty"` // records removed from a database because of their age; nil: none

	// Headless is set if the file's head is missing or unreadable, so that records could have been
	// removed from the end. A log without records needs no head.
	Headless bool `json:"headless,omitempty"`
}

// OK reports whether no fault was found.
func (r *Report) OK() bool { return len(r.Faults) == 0 }

// A Fault describes the first record of a chain that is not in its original form.
func (r *Report) faulty(writer string) bool {
	return slices.ContainsFunc(r.Faults, func(f Fault) bool { return f.Writer == writer })
}

// A Fault describes the first record of a chain that is not in its original form.
type Fault struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Writer string `json:"writer,omitempty"`
	Seq    uint64 `json:"seq"` // actual or expected number
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
