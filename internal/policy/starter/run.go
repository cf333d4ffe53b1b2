package starter

import (
	"fmt"
	"io"

	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// NoConfiguration is the message for a missing configuration.
const NoConfiguration = "petrigate init proposes rules for a configuration's servers; petrigate import CLIENT makes a configuration from a client's servers, " +
	"or write petrigate.yaml with the mcpServers of your client"

// Run shows the plan and, once confirmed, writes it.
func (plan *Plan) Run(o Options) error {
	if err := plan.offer(o); err != nil || len(plan.Missing) == 0 {
		return err
	}
	_, err := fmt.Fprintf(o.Err, "\nNo rule was proposed for %s, which did not respond (see above). Fix the problem (petrigate doctor can help), then run petrigate init again: "+
		"if there are rules already, it prints what to add to them.\n", text.And(text.EscapeAll(plan.Missing)))
	return err
}

// offer shows the plan. It writes the plan if o.Yes is set or the user confirms. If the
// configuration probably belongs to a client, nothing is written, and offer returns an error if
// o.Yes is set. If a policy already exists, offer just shows the statements missing from it.
func (plan *Plan) offer(o Options) error {
	if plan.ExistingPolicy != "" {
		return plan.compare(o)
	}
	if _, err := io.WriteString(o.Out, plan.Rules); err != nil {
		return err
	}
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(o.Err, format+"\n", args...) }
	say("\n%s", plan.Summary())
	for _, line := range plan.Left {
		say("Left out because petrigate check would report a problem with it: %s", line)
	}
	if plan.Enforced {
		say("%s uses a mode other than shadow: the new rules are enforced as soon as they are loaded.", plan.Config)
	}
	before := plan.Before
	if plan.made {
		before = nil
	}
	if diff := textfile.DiffWithout(plan.secrets, plan.Config, before, plan.Config+" (with the rules)", plan.After); diff != "" {
		say("\n%s", diff)
	}
	write := o.Yes
	if plan.Client && !write {
		say("\nNothing is written: %s.", fmt.Errorf("%s: %w", plan.Config, ErrClient))
		return nil
	}
	if !write && o.Ask != nil {
		var err error
		if write, err = o.Ask(fmt.Sprintf("Write %s and %s %s?", plan.File, plan.verb("make", "change"), plan.Config)); err != nil {
			return err
		}
	}
	if !write {
		say("\nNothing was written. petrigate init%s --yes writes %s and %s %s.", plan.argument(), plan.File, plan.verb("makes", "adds the keys to"), plan.Config)
		return nil
	}
	if err := plan.Write(); err != nil {
		return err
	}
	plan.printNextSteps(say)
	return nil
}

// verb returns the first verb if the plan creates the configuration file, and the second verb if
// the file already exists.
func (plan *Plan) verb(made, changed string) string {
	if plan.made {
		return made
	}
	return changed
}

// argument returns a space and the client argument that "petrigate init" needs for the plan's
// agent. It returns the empty string if the plan is not for an agent.
func (plan *Plan) argument() string {
	if plan.agent == nil {
		return ""
	}
	return " " + plan.agent.Client
}

// printNextSteps prints suggestions for what to do once the plan has been written.
func (plan *Plan) printNextSteps(say func(format string, args ...any)) {
	steps := []string{
		"petrigate connect CLIENT, if no client runs petrigate yet; petrigate connect --list shows them",
		"use your agents as always (petrigate sessions shadow shows what would be refused)",
		"petrigate suggest: the rules that your record supports, and what shadow would have refused",
	}
	if a := plan.agent; a != nil {
		steps[0] = fmt.Sprintf("petrigate connect %s --hooks: %s asks petrigate before each call to one of its own tools", a.Client, a.Title)
		steps[1] = "use your agent as always (petrigate sessions shadow shows what would be refused; with audit: { arguments: full } it shows the commands too)"
		steps = steps[:2]
		if plan.pipefail && a.Name == "claude-code" {
			steps = append(steps, `allow "Bash(set -o pipefail)" in the permissions of Claude Code, or it asks you about tests that end in a pipe`)
		}
	}
	if !plan.Enforced {
		enforce := "petrigate enforce: what would be refused is refused from then on"
		if plan.agent != nil {
			enforce += ", and a person approves calls in the console (petrigate open) or at a terminal (petrigate approvals watch)"
		}
		steps = append(steps, enforce)
	}
	say("\nWritten: %s. Next:", plan.File)
	for i, step := range steps {
		say("  %d. %s", i+1, step)
	}
}

// Summary returns a line with the numbers of nets and proved claims and, unless the plan is for an
// agent, the number of tools.
func (plan *Plan) Summary() string {
	proved := 0
	for _, c := range plan.Report.Claims() {
		if c.Result == "proved" {
			proved++
		}
	}
	if plan.agent != nil {
		return fmt.Sprintf("%s's own tools: %s, %s proved.", plan.agent.Title, text.Count(len(plan.Report.Nets), "net"), text.Count(proved, "claim"))
	}
	return fmt.Sprintf("%s: %s, %s proved. Every tool can still be called, and no session can get stuck.", text.Count(plan.Tools, "tool"), text.Count(len(plan.Report.Nets), "net"), text.Count(proved, "claim"))
}
