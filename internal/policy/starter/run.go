package starter

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
	"github.com/petrigate/petrigate/rules"
)

// NoConfiguration says how to begin where there is no configuration.
const NoConfiguration = "petrigate init proposes rules for the servers of a configuration; petrigate import CLIENT makes one of those that a client has, " +
	"or write petrigate.yaml with the mcpServers of your client"

// Options say what becomes of a plan.
type Options struct {
	Out io.Writer                           // gets the rules
	Err io.Writer                           // gets what is said about them
	Ask func(question string) (bool, error) // nil: nobody is there to ask
	Yes bool                                // write without a question
}

// Run shows the plan, and writes it where that is wanted.
func (plan *Plan) Run(o Options) error {
	if plan.There != "" {
		return plan.compare(o)
	}
	if _, err := io.WriteString(o.Out, plan.Rules); err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(o.Err, format+"\n", args...) }
	say("\n%s", plan.Summary())
	for _, line := range plan.Left {
		say("Left out, since check would complain about it: %s", line)
	}
	if plan.Enforced {
		say("%s has another mode than shadow: what is written is enforced as soon as it is loaded.", plan.Config)
	}
	if diff := textfile.Diff(plan.Config, plan.Before, plan.Config+" (with the rules)", plan.After); len(diff) > 0 {
		say("\n%s", strings.TrimSpace(string(diff)))
	}
	write := o.Yes
	if plan.Client && !write {
		say("\nNothing is written: %s.", fmt.Errorf("%s: %w", plan.Config, ErrClient))
		return nil
	}
	if !write && o.Ask != nil {
		var err error
		if write, err = o.Ask(fmt.Sprintf("Write %s and change %s?", plan.File, plan.Config)); err != nil {
			return err
		}
	}
	if !write {
		say("\nNothing was written. petrigate init --yes writes %s and adds the keys to %s.", plan.File, plan.Config)
		return nil
	}
	if err := plan.Write(); err != nil {
		return err
	}
	say("\nWritten: %s. Next:", plan.File)
	say("  1. petrigate connect CLIENT, if no client runs petrigate yet; petrigate connect --list shows them")
	say("  2. use your agents as always (petrigate sessions shadow shows what would be refused)")
	say("  3. petrigate suggest: the rules that your record supports, and what shadow would have refused")
	say("  4. remove \"mode: shadow\" from %s to enforce", filepath.Base(plan.Config))
	return nil
}

// Summary is what is known of the plan.
func (plan *Plan) Summary() string {
	proved := 0
	for _, c := range plan.Report.Claims() {
		if c.Result == "proved" {
			proved++
		}
	}
	return fmt.Sprintf("%s: %s, %s proved. No rule makes a tool impossible or gets a session stuck.", text.Count(plan.Tools, "tool"), text.Count(len(plan.Report.Nets), "net"), text.Count(proved, "claim"))
}

// compare shows what the plan has beyond the policy that is there, which stays as it is.
func (plan *Plan) compare(o Options) error {
	_, _ = fmt.Fprintf(o.Err, "%s has a policy already, so nothing is written. This is what init would propose beyond it:\n\n", plan.There)
	_, err := io.WriteString(o.Out, beyond(plan.Rules, plan.have()))
	return err
}

// beyond are the statements of a text that others do not have, below their comments.
func beyond(text string, have map[string]bool) string {
	var b strings.Builder
	comment := ""
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
			comment = line
		case strings.TrimSpace(line) == "" || have[strings.TrimSpace(line)]:
		default:
			if comment != "" && b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(comment + line)
			comment = ""
		}
	}
	return b.String()
}

// have are the statements that are there already, in canonical form.
func (plan *Plan) have() map[string]bool {
	have := map[string]bool{}
	for _, t := range plan.texts {
		f, _ := rules.Parse("", []byte(t)) // what cannot be read is not there
		for _, s := range f.Statements {
			have[s.String()] = true
		}
	}
	return have
}
