package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/serve/control"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy"
)

func approvalsWatch(s stdio) *cobra.Command {
	c := &cobra.Command{
		Use: "watch", Short: "Answer approvals at a terminal as they come", Args: cobra.NoArgs,
		Long: "watch shows each call that waits for approval, whole, as soon as it waits, and takes an answer:\n" +
			"  y             approve it, once\n" +
			"  n [REASON]    deny it; the agent is told the reason\n" +
			"  s             skip it: it waits on\n" +
			"  q             quit; nothing is answered\n" +
			"Enter alone is no answer, and neither is what was typed before the question was there. It follows all\n" +
			"running proxies, those that start later too. With --json it answers nothing, and needs no terminal: it\n" +
			"prints a line for each approval that waits, and for each that changes.",
	}
	asJSON := c.Flags().Bool("json", false, "print a line of JSON for each change, and answer nothing")
	c.RunE = func(c *cobra.Command, _ []string) error {
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		if *asJSON {
			return ended(c.Context(), streamApprovals(ctx, s.out))
		}
		if !isTerminal(s.in) || !isTerminal(s.out) {
			return usage("approvals watch asks at a terminal, and this is none; use --json to follow approvals from a program, or petrigate approvals ls")
		}
		t, err := openTerminal(s.in)
		if err != nil {
			return err
		}
		defer t.close()
		w := &watch{out: s.out, terminal: t, overview: overview{map[string]news{}}, done: map[string]bool{}}
		return ended(c.Context(), w.run(ctx))
	}
	return c
}

// ended is the error of a verb that a signal ends where nothing else does.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// streamApprovals prints each approval that waits, and each that is not as it was printed, as
// a line of JSON.
func streamApprovals(ctx context.Context, w io.Writer) error {
	o, known, printed := overview{map[string]news{}}, map[string]bool{}, map[string]proxy.ApprovalInfo{}
	told := followApprovals(ctx)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case n := <-told:
			if n.err != nil {
				return n.err
			}
			first := n.client != nil && !known[n.client.Path]
			if o.take(n); n.client != nil {
				known[n.client.Path] = !n.gone
			}
			if err := printChanges(w, o.all(), printed, first); err != nil {
				return err
			}
		}
	}
}

// printChanges prints what is not as it was printed. What had ended when its proxy was first
// seen is no change.
func printChanges(w io.Writer, all map[string]owned[proxy.ApprovalInfo], printed map[string]proxy.ApprovalInfo, first bool) error {
	type line struct {
		Version  int                `json:"version"`
		Approval proxy.ApprovalInfo `json:"approval"`
		Gone     bool               `json:"gone,omitempty"` // no running proxy knows of it any more
	}
	var lines []line
	for id, o := range all {
		before, known := printed[id]
		if known && before.State == o.it.State && before.Approvals == o.it.Approvals {
			continue
		}
		if printed[id] = o.it; known || !first || o.it.State == proxy.Pending {
			lines = append(lines, line{1, o.it, false})
		}
	}
	for id, a := range printed {
		if _, there := all[id]; !there {
			delete(printed, id)
			if a.State == proxy.Pending || a.State == proxy.Approved {
				lines = append(lines, line{1, a, true})
			}
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return older(a.Approval, b.Approval) })
	for _, l := range lines {
		out, err := json.Marshal(l)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", text.EscapeJSON(out)); err != nil {
			return err
		}
	}
	return nil
}

// older puts approvals in the order in which they were asked for.
func older(a, b proxy.ApprovalInfo) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}

// A watch asks the person at a terminal about one approval after the other.
type watch struct {
	out      io.Writer
	terminal *terminal
	overview overview
	done     map[string]bool // by id: skipped, or answered here

	shown  *proxy.ApprovalInfo // before the person; nil: none
	client *control.Client     // that has it
	denies bool                // the person is asked for the reason
	armed  <-chan time.Time    // when answers begin to count; nil: they do
	idle   string              // what was said last while there was no question
}

func (w *watch) say(format string, args ...any) { _, _ = fmt.Fprintf(w.out, format, args...) }

// run asks until the person quits, the input ends, or ctx does.
func (w *watch) run(ctx context.Context) error {
	told := followApprovals(ctx)
	look := time.NewTimer(lookEvery) // who has no proxy is told so
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			w.say("\n")
			return ctx.Err()
		case <-look.C:
			w.ask()
		case n := <-told:
			if n.err != nil {
				return n.err
			}
			w.overview.take(n)
			w.check()
			w.ask()
		case <-w.armed:
			if err := w.terminal.forget(); err != nil {
				return err
			}
			w.armed = nil
			w.prompt()
		case line := <-w.terminal.lines:
			if line.err != nil {
				w.say("\n")
				return nil
			}
			if w.armed != nil || !w.terminal.counts(line) {
				continue
			}
			if quit := w.answer(strings.TrimSpace(line.text)); quit {
				return nil
			}
			w.ask()
		}
	}
}

// check takes the question away where it is answered elsewhere or over.
func (w *watch) check() {
	if w.shown == nil {
		return
	}
	now, there := w.overview.all()[w.shown.ID]
	_, runs := w.overview.proxies[w.client.Path]
	switch {
	case !there || !runs && now.it.State == proxy.Pending: // another one that has it shows it anew
		w.say("\n%s: its proxy has ended.\n", w.shown.ID)
		w.shown = nil
	case now.it.State != proxy.Pending:
		w.say("\n%s\n", became(now.it))
		w.shown = nil
	case now.it.Approvals != w.shown.Approvals:
		w.say("\n%s has %d of %s now.\n", w.shown.ID, now.it.Approvals, text.Count(now.it.Needs, "approval"))
		w.shown.Approvals = now.it.Approvals
		w.prompt()
	}
}

// became says what happened to an approval elsewhere.
func became(a proxy.ApprovalInfo) string {
	switch a.State {
	case proxy.Expired:
		return a.ID + " has expired: nobody has answered in time."
	case proxy.Withdrawn:
		return a.ID + " is withdrawn: its call does not wait any more."
	case proxy.Denied:
		return a.ID + " was denied" + answered(a) + "."
	default:
		return a.ID + " was approved" + answered(a) + "."
	}
}

// ask shows the oldest question that is open, unless one is before the person.
func (w *watch) ask() {
	if w.shown != nil {
		return
	}
	w.denies, w.armed = false, nil
	var open []owned[proxy.ApprovalInfo]
	for id, o := range w.overview.all() {
		if o.it.State == proxy.Pending && !w.done[id] {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		w.rest()
		return
	}
	slices.SortFunc(open, func(a, b owned[proxy.ApprovalInfo]) int { return older(a.it, b.it) })
	next := open[0]
	a, err := next.client.Approval(next.it.ID)
	if err != nil || a.State != proxy.Pending { // there will be news of it
		w.done[next.it.ID] = err == nil
		return
	}
	w.idle = ""
	w.shown, w.client = &a, next.client
	more := ""
	if n := len(open) - 1; n > 0 {
		more = fmt.Sprintf(" (%d more behind it)", n)
	}
	w.say("\n%s%s\n", shown(a), more)
	w.armed = time.After(armed)
}

// rest says that there is nothing to answer, once.
func (w *watch) rest() {
	idle := "No proxy runs yet; waiting for one. q quits.\n"
	if n := len(w.overview.proxies); n > 0 {
		idle = fmt.Sprintf("No call waits for a person (running proxies: %d). q quits.\n", n)
	}
	if idle != w.idle {
		w.idle = idle
		w.say("%s", idle)
	}
}

func (w *watch) prompt() {
	switch {
	case w.shown == nil || w.armed != nil:
	case w.denies:
		w.say("Reason, for the agent (Enter: none): ")
	default:
		w.say("Approve? y, n [REASON], s (skip), q (quit): ")
	}
}

// answer does what the person has typed, and reports whether that is to quit.
func (w *watch) answer(line string) (quit bool) {
	word, rest, _ := strings.Cut(line, " ")
	word, rest = strings.ToLower(word), strings.TrimSpace(rest)
	switch {
	case w.denies:
		w.resolve(false, line)
	case rest == "" && (word == "q" || word == "quit"):
		return true
	case w.shown == nil:
	case rest == "" && (word == "y" || word == "yes"):
		w.resolve(true, "")
	case (word == "n" || word == "no") && rest == "":
		w.denies = true
		w.prompt()
	case word == "n" || word == "no":
		w.resolve(false, strings.TrimPrefix(rest, "because "))
	case rest == "" && (word == "s" || word == "skip"):
		w.say("%s waits on; petrigate approvals shows it.\n", w.shown.ID)
		w.done[w.shown.ID], w.shown = true, nil
	default:
		w.prompt()
	}
	return false
}

// resolve answers the question that is before the person.
func (w *watch) resolve(approve bool, reason string) {
	w.done[w.shown.ID] = true
	if err := answerApproval(w.out, w.client, *w.shown, approve, reason); err != nil {
		w.say("%v\n", err)
	}
	w.shown = nil
}
