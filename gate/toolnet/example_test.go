package toolnet_test

import (
	"fmt"

	"github.com/petrigate/petrigate/gate/toolnet"
)

var backupBeforeDelete = toolnet.Net{
	Name:    "backup-before-delete",
	Places:  []string{"ready", "saved"},
	Initial: map[string]int{"ready": 1},
	Transitions: []toolnet.Transition{
		{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"saved"}, Tools: toolnet.Tools("backup"), Deferred: true},
		{Name: "delete", Inputs: []string{"saved"}, Outputs: []string{"ready"}, Tools: toolnet.Tools("delete")},
	},
}

// A deployment is in one place at a time and never gets stuck.
func ExampleNet_States() {
	move := func(name, from, to string) toolnet.Transition {
		return toolnet.Transition{Name: name, Inputs: []string{from}, Outputs: []string{to}, Tools: toolnet.Tools("deploy-" + name), Deferred: true}
	}
	pipeline := toolnet.Net{
		Name:    "deployment-pipeline",
		Places:  []string{"idle", "building", "tested", "staged", "canary"},
		Initial: map[string]int{"idle": 1},
		Transitions: []toolnet.Transition{
			move("build", "idle", "building"), move("test", "building", "tested"), move("stage", "tested", "staged"),
			move("canary", "staged", "canary"), move("production", "canary", "idle"), move("rollback", "canary", "idle"),
		},
	}
	e := pipeline.Explore(0)
	fmt.Println("states:", e.States, "deadlock-free:", e.Complete && e.Deadlocks == 0)
	fmt.Println("invariant:", e.Invariants[0])
	one := map[string]int{"idle": 1, "building": 1, "tested": 1, "staged": 1, "canary": 1}
	fmt.Println("token conservation:", pipeline.Conserves(one, 0) == toolnet.Yes)
	for state := range pipeline.States() {
		fmt.Println(state.Marking, "then", state.Enabled)
	}
	// Output:
	// states: 5 deadlock-free: true
	// invariant: idle + building + tested + staged + canary = 1
	// token conservation: true
	// idle:1 then [build]
	// building:1 then [test]
	// tested:1 then [stage]
	// staged:1 then [canary]
	// canary:1 then [production rollback]
}

func ExampleNet_Conserves() {
	for _, weights := range []map[string]int{{"ready": 1, "saved": 1}, {"ready": 1, "saved": 2}} {
		fmt.Println(weights, backupBeforeDelete.Conserves(weights, 0) == toolnet.Yes)
	}
	// Output:
	// map[ready:1 saved:1] true
	// map[ready:1 saved:2] false
}

func ExampleNet_Explore() {
	e := backupBeforeDelete.Explore(0)
	fmt.Println(e.States, e.Complete, e.Deadlocks, e.Bounded == toolnet.Yes)
	// Output:
	// 2 true 0 true
}

func ExampleMatchGlob() {
	fmt.Println(toolnet.MatchGlob("github_delete_*", "github_delete_repo"), toolnet.MatchGlob("v?", "v10"))
	// Output:
	// true false
}

func ExampleNet_Check() {
	n := toolnet.Net{
		Name: "typo", Places: []string{"ready"},
		Transitions: []toolnet.Transition{{Name: "t", Inputs: []string{"redy"}, Tools: toolnet.Tools("x")}},
		Rule:        toolnet.Position{File: "nets.yaml", Line: 4, Column: 3},
	}
	fmt.Println(n.Check())
	// Output:
	// nets.yaml:4:3: net "typo": transition "t": unknown place "redy" (did you mean "ready"?)
}

// The errors of several nets form one error, or nil.
func ExampleErrorList_Err() {
	typo := backupBeforeDelete
	typo.Initial = map[string]int{"redy": 1}
	for _, nets := range [][]toolnet.Net{{backupBeforeDelete}, {backupBeforeDelete, typo}} {
		var errs toolnet.ErrorList
		for _, n := range nets {
			errs = append(errs, n.Check()...)
		}
		fmt.Println(errs.Err())
	}
	// Output:
	// <nil>
	// net "backup-before-delete": unknown place "redy" (did you mean "ready"?)
}

// A transition's tools, by name.
func ExampleTools() {
	t := toolnet.Transition{Name: "write", Tools: toolnet.Tools("write_file", "edit_file")}
	for _, tool := range t.Tools {
		fmt.Println(tool.Name)
	}
	// Output:
	// write_file
	// edit_file
}

// A field's name is its source text.
func ExampleField_Name() {
	path := toolnet.Field{Path: "$.files[*].path"}
	expression := toolnet.Field{Source: `args.path.lowerAscii()`}
	fmt.Println(path.Name(), expression.Name())
	// Output: $.files[*].path args.path.lowerAscii()
}

func ExampleMap_Fault() {
	m := toolnet.Map{Tool: "bash", Field: "$.command[", As: "delete", Match: func(string) bool { return true }}
	fmt.Println(m.Fault())
	// Output: the path "$.command[": at byte 9: the bracket is not closed
}

// A backup names its file in a different field than a deletion.
func ExampleNet_KeyOf() {
	n := toolnet.Net{
		Key: []toolnet.Field{{Path: "path"}},
		Transitions: []toolnet.Transition{
			{Name: "backup", Tools: toolnet.Tools("backup"), Key: []toolnet.Field{{Path: "$.file.name"}}},
			{Name: "delete", Tools: toolnet.Tools("delete")},
		},
	}
	for i := range n.Transitions {
		key := n.KeyOf(&n.Transitions[i])
		fmt.Println(n.Transitions[i].Name, key[0].Name())
	}
	// Output:
	// backup $.file.name
	// delete path
}

// An analysis works on the structure of a net. The transitions without tools fire first.
func ExampleNet_Structure() {
	n := toolnet.Net{
		Places: []string{"idle", "ready"}, Initial: map[string]int{"idle": 1},
		Transitions: []toolnet.Transition{
			{Name: "begin", Inputs: []string{"idle"}, Outputs: []string{"ready"}},
			{Name: "read", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: toolnet.Tools("read")},
		},
	}
	structure, initial := n.Structure()
	fmt.Println(structure.Places, len(structure.Transitions), initial, n.Structural())
	// Output: 2 2 [1 0] [0]
}

func ExampleMarking_String() {
	m := toolnet.Marking{{Place: "ready", Count: 1, InFlight: 1}, {Place: "budget", Count: 2}, {Place: "done"}}
	fmt.Println(m)
	// Output: ready:1 (1 in flight), budget:2
}

func ExamplePath_Many() {
	one, _ := toolnet.ParsePath("$.file.path")
	each, _ := toolnet.ParsePath("$.files[*].path")
	fmt.Println(one.Many(), each.Many())
	// Output: false true
}

func ExampleScope_String() {
	fmt.Println(toolnet.ScopeSession, toolnet.ScopePrincipal, toolnet.ScopeGlobal)
	// Output: session principal global
}

func ExampleCondition_AboutCall() {
	c := toolnet.Condition{Tool: "shell.*", Glob: true, Source: "result.exitCode == 0"}
	fmt.Println(
		c.AboutCall(&toolnet.Call{Tool: "shell_run", Also: []toolnet.Name{{Text: "shell.run"}}}),
		c.AboutCall(&toolnet.Call{Tool: "push"}),
	)
	// Output: true false
}
