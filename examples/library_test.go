package examples

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/gate"
)

// A step is a call in an example: a tool, its arguments, and whether the call succeeds.
type step struct {
	tool, args string
	outcome    gate.Outcome
}

// tell makes the calls and prints what happens to each. A person approves everything.
func tell(n gate.Net, steps ...step) {
	p, err := gate.NewPolicy([]gate.Net{n}, gate.PolicyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := gate.NewSession(p, gate.SessionOptions{})
	for _, step := range steps {
		c := gate.Call{Tool: step.tool, Args: []byte(step.args)}
		d := s.Decide(c, nil)
		if ask, ok := d.(*gate.Ask); ok {
			fmt.Printf("%s %s: a person is asked\n", step.tool, step.args)
			d = s.Decide(c, ask.Grant())
		}
		switch d := d.(type) {
		case *gate.Allow:
			fmt.Printf("%s %s: allowed\n", step.tool, step.args)
			s.Settle(d.Ticket.Number, step.outcome)
		case *gate.Refusal:
			fmt.Printf("%s %s: %s\n", step.tool, step.args, d.Text)
		}
	}
}

// pathOf returns the path in the arguments of a call.
func pathOf(f gate.Firing) (string, error) {
	var args struct{ Path string }
	if err := json.Unmarshal(f.Call.Args, &args); err != nil || args.Path == "" {
		return "", errors.New("the call names no path")
	}
	return path.Clean(args.Path), nil
}

// The write guard in Go: a validator that examines the arguments.
func Example_writeGuard() {
	guard := gate.Net{
		Name: "write-guard", Places: []string{"ready"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "write", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("write_file")},
		},
		Validate: func(f gate.Firing) error {
			p, err := pathOf(f)
			if err == nil && !strings.HasPrefix(p, "/workspace/") {
				err = fmt.Errorf("writes are restricted to /workspace, got %s", p)
			}
			return err
		},
	}
	tell(guard,
		step{"write_file", `{"path":"/workspace/a"}`, gate.Success},
		step{"write_file", `{"path":"/workspace/../etc/passwd"}`, gate.Success},
		step{"write_file", `{}`, gate.Success},
		step{"read_file", `{"path":"/etc/passwd"}`, gate.Success},
	)
	// Output:
	// write_file {"path":"/workspace/a"}: allowed
	// write_file {"path":"/workspace/../etc/passwd"}: writes are restricted to /workspace, got /etc/passwd
	// write_file {}: the call names no path
	// read_file {"path":"/etc/passwd"}: allowed
}

// The smart backup in Go: a hook remembers which paths were backed up, and a validator allows
// deleting only these.
func Example_smartBackup() {
	saved := func(m gate.Meta) []string {
		paths, _ := m["saved"].([]string)
		return paths
	}
	backup := gate.Net{
		Name: "smart-backup", Places: []string{"ready"}, Initial: map[string]int{"ready": 1},
		Transitions: []gate.Transition{
			{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("backup"), Deferred: true},
			{Name: "delete", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: gate.Tools("delete")},
		},
		Validate: func(f gate.Firing) error {
			p, err := pathOf(f)
			if err == nil && f.Transition == "delete" && !slices.Contains(saved(f.Meta), p) {
				err = fmt.Errorf("%s has to be backed up first", p)
			}
			return err
		},
		OnSuccess: func(f gate.Firing) {
			p, _ := pathOf(f)
			f.Meta["saved"] = append(slices.Clone(saved(f.Meta)), p) // a new value, because a rejected call may be undone
		},
	}
	tell(backup,
		step{"delete", `{"path":"/a"}`, gate.Success},
		step{"backup", `{"path":"/a"}`, gate.Failure},
		step{"delete", `{"path":"/a"}`, gate.Success},
		step{"backup", `{"path":"/a"}`, gate.Success},
		step{"delete", `{"path":"/b"}`, gate.Success},
		step{"delete", `{"path":"/x/../a"}`, gate.Success},
	)
	// Output:
	// delete {"path":"/a"}: /a has to be backed up first
	// backup {"path":"/a"}: allowed
	// delete {"path":"/a"}: /a has to be backed up first
	// backup {"path":"/a"}: allowed
	// delete {"path":"/b"}: /b has to be backed up first
	// delete {"path":"/x/../a"}: allowed
}

// The deployment pipeline in Go: a mapper names what a command does, and the net defines the order.
func Example_deploymentPipeline() {
	move := func(name, from, to string) gate.Transition {
		return gate.Transition{Name: name, Inputs: []string{from}, Outputs: []string{to}, Tools: gate.Tools("deploy-" + name), Deferred: true}
	}
	production := move("production", "canary", "idle")
	production.Manual = true
	pipeline := gate.Net{
		Name:    "deployment-pipeline",
		Places:  []string{"idle", "building", "tested", "canary"},
		Initial: map[string]int{"idle": 1},
		Transitions: []gate.Transition{
			move("build", "idle", "building"), move("test", "building", "tested"), move("canary", "tested", "canary"),
			move("rollback", "canary", "idle"), production,
		},
		Mapper: func(c gate.Call) []gate.Name {
			names := []gate.Name{{Text: c.Tool, Certain: true}}
			for _, verb := range []string{"build", "test", "canary", "rollback", "production"} {
				if strings.Contains(string(c.Args), "deploy "+verb) {
					names = append(names, gate.Name{Text: "deploy-" + verb})
				}
			}
			return names
		},
		Reason: "The order is build, test, canary, production.",
	}
	tell(pipeline,
		step{"exec", `{"command":"deploy canary"}`, gate.Success},
		step{"exec", `{"command":"deploy build"}`, gate.Success},
		step{"exec", `{"command":"deploy test"}`, gate.Failure},
		step{"exec", `{"command":"deploy test && deploy canary"}`, gate.Success},
		step{"exec", `{"command":"deploy test"}`, gate.Success},
		step{"exec", `{"command":"deploy canary"}`, gate.Success},
		step{"exec", `{"command":"deploy production"}`, gate.Success},
	)
	// Output:
	// exec {"command":"deploy canary"}: The order is build, test, canary, production.
	// exec {"command":"deploy build"}: allowed
	// exec {"command":"deploy test"}: allowed
	// exec {"command":"deploy test && deploy canary"}: The order is build, test, canary, production.
	// exec {"command":"deploy test"}: allowed
	// exec {"command":"deploy canary"}: allowed
	// exec {"command":"deploy production"}: a person is asked
	// exec {"command":"deploy production"}: allowed
}
