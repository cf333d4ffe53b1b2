package doctor

import (
	"context"
	"fmt"
)

// A Finding is the result of checking one item, such as a file or an upstream.
type Finding struct {
	Check   string `json:"check"`
	Status  string `json:"status"`
	Says    string `json:"says"`
	Fix     string `json:"fix,omitempty"`
	Fixable bool   `json:"fixable"` // whether --fix can fix the problem

	mend *mend
}

// Values of [Finding.Status].
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
)

// A mend is a safe fix for a problem, for use by petrigate doctor --fix.
type mend struct {
	shows string // text to show before asking the user; empty if the apply function itself shows the fix and asks the user
	apply func(context.Context) error
}

func ok(format string, args ...any) Finding {
	return Finding{Status: OK, Says: fmt.Sprintf(format, args...)}
}

func warning(fix, format string, args ...any) Finding {
	return Finding{Status: Warning, Says: fmt.Sprintf(format, args...), Fix: fix}
}

func failed(fix, format string, args ...any) Finding {
	return Finding{Status: Failed, Says: fmt.Sprintf(format, args...), Fix: fix}
}

// orOK returns the given findings or, if the list is empty, a single finding with the status OK and
// the formatted text.
func orOK(all []Finding, format string, args ...any) []Finding {
	if len(all) == 0 {
		return []Finding{ok(format, args...)}
	}
	return all
}

// with returns a copy of the finding with the given safe fix, for use by petrigate doctor --fix.
func (f Finding) with(shows string, apply func(context.Context) error) Finding {
	f.mend = &mend{shows, apply}
	return f
}
