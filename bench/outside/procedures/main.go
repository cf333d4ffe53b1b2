package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/rules"
)

func main() {
	if err := convert(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "procedures:", err)
		os.Exit(1)
	}
}

// convert writes the rules for a domain and replays recorded runs against them.
func convert(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("procedures", flag.ContinueOnError)
	tasks := flags.String("tasks", "", "the `file` of the tasks of a domain: an object of lists by service")
	implications := flags.String("implied", "", "the `file` of what successes imply: {\"login\": [{\"function\": \"exists\", \"parameters\": {\"user\": \"user\"}}]}")
	file := flags.String("rules", "", "the `file` to write the rules to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tasks == "" {
		return fmt.Errorf("which tasks? write: -tasks FILE [-rules FILE] [RUNS ...]")
	}
	var all map[string][]task
	if err := readJSON(*tasks, &all); err != nil {
		return err
	}
	var in implied
	if *implications != "" {
		if err := readJSON(*implications, &in); err != nil {
			return err
		}
	}
	d := make(domain)
	if err := d.read(all, in); err != nil {
		return fmt.Errorf("%s: %w", *tasks, err)
	}
	text, loose, err := d.rules()
	if err != nil {
		return fmt.Errorf("%s: %w", *tasks, err)
	}
	if *file != "" {
		if err := os.WriteFile(*file, []byte(text), 0o644); err != nil {
			return fmt.Errorf("writing the rules: %w", err)
		}
	}
	p, n, err := policy(text)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d functions, %d rules; %d of them ask for less than the procedure, which names a parameter that not all alternatives have\n", len(d), n, loose)
	return report(p, d, in, flags.Args(), out)
}

// policy returns the policy compiled from the given rules, and the number of its nets.
func policy(text string) (p *gate.Policy, nets int, err error) {
	f, _ := rules.Parse("procedures.rules", []byte(text)) // ignore the error, because Compile returns it, too
	compiled, err := rules.Compile(f)
	if err != nil {
		return nil, 0, err
	}
	p, err = gate.NewPolicy(compiled.Nets, gate.PolicyOptions{})
	return p, len(compiled.Nets), err
}

// report replays the runs in the given files and prints the results.
func report(p *gate.Policy, d domain, in implied, files []string, out io.Writer) error {
	var c count
	for _, name := range files {
		var runs []run
		if err := readJSON(name, &runs); err != nil {
			return err
		}
		for i := range runs {
			if err := c.play(p, d, in, &runs[i]); err != nil {
				return fmt.Errorf("%s: run %d: %w", name, i, err)
			}
		}
	}
	if len(files) == 0 {
		return nil
	}
	fmt.Fprintf(out, "%d runs, %d calls (%d that failed and %d that cannot be read are left out)\n", c.Runs, c.Calls, c.ErrorCalls, c.Unreadable)
	fmt.Fprintf(out, "agreement with the procedures: %d of %d (%s)\n", c.Agree, c.Calls, percent(c.Agree, c.Calls))
	fmt.Fprintf(out, "calls against the procedure: %d, refused: %d (%s), admitted: %d\n", c.Forbidden, c.Prevented, percent(c.Prevented, c.Forbidden), c.Missed)
	fmt.Fprintf(out, "calls that the procedure permits but the gate refuses: %d; refused calls that the task's own procedure permits: %d\n", c.FalseRefusals, c.OtherTask)
	fmt.Fprintf(out, "runs that rendered a service which the task forbids: %d, stopped: %d (%s)\n", c.Rendered, c.NotRendered, percent(c.NotRendered, c.Rendered))
	return nil
}

func percent(part, all int) string {
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

func readJSON(name string, v any) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(src, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
