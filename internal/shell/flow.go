package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A masking is the reason, if any, why a script's exit status 0 does not prove that a given command
// ran and succeeded.
type masking uint8

const (
	certain     masking = iota // the script's success proves the command's success
	followed                   // a later command, after ; or a newline, determines the status
	piped                      // a later command in the pipeline determines the status
	alternative                // the command is an operand of ||
	background                 // the command runs in the background
	negated                    // the command is negated with !
	conditional                // the command is in a condition, a loop or a function
	substituted                // the command is in a command substitution, $(...)
	started                    // the program that runs the command may succeed even if the command fails
	unrun                      // the shell parses the command without running it, as with -n
	ended                      // the script or a loop may end before the command runs
)

// A flow describes the control flow around the current command.
type flow struct {
	masking      masking
	errexit      bool // set -e is in effect
	pipefail     bool // set -o pipefail is in effect
	conditions   int  // number of enclosing conditions; within a condition, the effect of set is uncertain
	chained      int  // number of && operators before the command
	subprocesses int  // number of enclosing subprocesses
	mayHaveEnded bool // an earlier command may have ended the script successfully
	orRight      bool // the command is the right operand of ||

	redirected int // number of enclosing redirections that may fail

	uncertain *bool // whether a function, a trap or a pipeline may change errexit or pipefail, so that the values of both options are uncertain; shared by all copies of the flow
}

// exits reports whether the script ends when a command fails (set -e).
func (f *flow) exits() bool { return f.errexit && !*f.uncertain }

// failsPipes reports whether a pipeline fails when any of its commands fails (set -o pipefail).
func (f *flow) failsPipes() bool { return f.pipefail && !*f.uncertain }

// mask records the reason why the script's success does not prove the success of the commands that
// follow, unless a reason is already recorded. It returns the previous value of f.masking, which
// the caller must restore.
func (f *flow) mask(w masking) (before masking) {
	if before = f.masking; before == certain {
		f.masking = w
	}
	return before
}

// enterCondition begins a part of the script that runs only under a condition. It also records why
// the script's success does not prove the success of the commands in this part; see [flow.mask].
// The caller must call the returned function at the end of the part.
func (f *flow) enterCondition(w masking) func() {
	before := f.mask(w)
	f.conditions++
	return func() { f.conditions--; f.masking = before }
}

// enterSubprocess begins a part of the script that runs in a subprocess. The caller must call the
// returned function at the end of the part, to restore the shell options -e and pipefail.
func (f *flow) enterSubprocess() func() {
	errexit, pipefail := f.errexit, f.pipefail
	f.subprocesses++
	return func() { f.subprocesses--; f.errexit, f.pipefail = errexit, pipefail }
}

// enterMasked is like [flow.enterSubprocess], but also records why the script's success does not
// prove the success of the commands in the subprocess; see [flow.mask].
func (f *flow) enterMasked(w masking) func() {
	before, leave := f.mask(w), f.enterSubprocess()
	return func() { leave(); f.masking = before }
}

// enterNegated begins the statement s. If s is negated with ! or runs in the background,
// enterNegated records that the script's success does not prove the success of the commands in s;
// see [flow.mask]. The caller must call the returned function at the end of the statement.
func (f *flow) enterNegated(s *syntax.Stmt) func() {
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return f.enterMasked(background)
	case s.Negated:
		return f.enterCondition(negated)
	}
	return func() {}
}

// enterElement begins the element s of a list or pipeline. The slice list contains the operators
// between the elements. The element has the index n, so list[n-1] is the operator before s, and
// list[n] is the operator after it. At the end of the element, the caller must pass the results to
// leaveElement.
func (f *flow) enterElement(list []*syntax.BinaryCmd, n int, s *syntax.Stmt) (before flow, apart bool) {
	before = *f
	if len(list) == 0 {
		return before, false
	}
	behind := list[n:]
	if n > 0 && list[n-1].Op == syntax.OrStmt {
		f.orRight = true
		f.conditions++
		f.mask(alternative)
	} else if n > 0 && !isPipe(list[n-1]) {
		f.chained++
	}
	if apart = n > 0 && isPipe(list[n-1]) || len(behind) > 0 && isPipe(behind[0]); apart {
		f.subprocesses++
	}
	if slices.ContainsFunc(behind, isPipe) && !f.failsPipes() {
		f.mask(piped)
	}
	if slices.ContainsFunc(behind, func(b *syntax.BinaryCmd) bool { return b.Op == syntax.OrStmt && !fails(b.Y) }) {
		f.mask(alternative)
	}
	if _, simple := s.Cmd.(*syntax.CallExpr); !simple && len(behind) > 0 && !isPipe(behind[0]) {
		f.conditions++ // inside a compound command before && or ||, set -e has no effect
	}
	return before, apart
}

// leaveElement ends an element. Options that the element has set, such as -e, remain in effect
// unless it ran in a subprocess.
func (f *flow) leaveElement(before flow, apart bool) {
	before.mayHaveEnded = f.mayHaveEnded
	if !apart {
		before.errexit, before.pipefail = f.errexit, f.pipefail
	}
	*f = before
}

// leaveList ends a list of commands. Its arguments are the options in effect after the first
// element. Only the first element is certain to run, so leaveList clears the options that only
// later elements have set.
func (f *flow) leaveList(errexit, pipefail bool) {
	f.errexit, f.pipefail = f.errexit && errexit, f.pipefail && pipefail
}

// fails reports whether the statement s certainly fails or, like exit 1, ends the script with a
// failure.
func fails(s *syntax.Stmt) bool {
	if s.Background || s.Negated {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.Block:
		return len(c.Stmts) > 0 && fails(c.Stmts[len(c.Stmts)-1])
	case *syntax.CallExpr:
		if len(c.Assigns) > 0 || len(c.Args) == 0 {
			return false
		}
		switch c.Args[0].Lit() {
		case "false":
			return true
		case "exit", "return":
			return len(c.Args) == 1 || len(c.Args) == 2 && isFailure(c.Args[1].Lit())
		}
	}
	return false
}

// isFailure reports whether status is an exit status other than 0.
func isFailure(status string) bool {
	return status != "" && len(status) < 4 && isDigits(status) && status != "0" && status != "00" && status != "000" && status != "256"
}

// endsScript reports whether, under set -e, any failure within s ends the script.
func endsScript(s *syntax.Stmt) bool {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.Subshell, *syntax.TimeClause, *syntax.DeclClause:
		return true
	case *syntax.BinaryCmd:
		return isPipe(c) && endsScript(c.X) && endsScript(c.Y)
	}
	return false
}

// setOptions applies the options -e and -o pipefail in the arguments of the set builtin.
func (f *flow) setOptions(args []arg) {
	if f.conditions > 0 || f.redirected > 0 {
		f.errexit, f.pipefail = false, false // it is uncertain whether set runs, so both options count as not set
		return
	}
	value := false // the argument is the value of the option -o
	for i, a := range args {
		if value {
			value = false
			continue
		}
		on := strings.HasPrefix(a.text, "-")
		if a.kind != literal || len(a.text) < 2 || a.text == "--" || !on && a.text[0] != '+' {
			return // the remaining arguments are operands
		}
		for k := 1; k < len(a.text); k++ {
			switch a.text[k] {
			case 'e':
				f.errexit = on
			case 'o':
				if value = i+1 < len(args); value && args[i+1].kind == literal {
					f.setOption(args[i+1].text, on)
				}
			}
		}
	}
}

// changesEnd matches trap actions that could change the script's exit status.
var changesEnd = regexp.MustCompile(`exit|exec|return|kill|eval|set|[.]|source|\$`)

func (f *flow) setOption(name string, on bool) {
	switch name {
	case "errexit":
		f.errexit = on
	case "pipefail":
		f.pipefail = on
	}
}

// noteExit records that a builtin may end the script, or a part of it, successfully.
func (f *flow) noteExit(name string, args []arg) {
	switch name {
	case "exit", "return":
		if len(args) == 1 && args[0].kind == literal && isFailure(args[0].text) || len(args) == 0 && f.orRight {
			return
		}
	case "exec":
		if len(args) == 0 {
			return
		}
	case "trap":
		if len(args) > 0 && args[0].kind == literal && !changesEnd.MatchString(args[0].text) {
			return
		}
	case "logout", "suspend":
	default:
		return
	}
	f.mayHaveEnded = true
}

// runsOnce reports whether the current command runs exactly once, in the script's own shell.
func (f *flow) runsOnce() bool {
	return f.conditions == 0 && f.chained == 0 && f.subprocesses == 0 && !f.orRight && f.redirected == 0
}
