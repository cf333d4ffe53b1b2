package demo

// A section demonstrates a rule with a series of calls.
type section struct {
	title string
	steps []step
}

// A step is a call along with the expected result.
type step struct {
	note       string // text to print before the call; may be empty
	tool, args string
	answer     answer // the person's answer; the zero value means that the person must not be asked
	want       outcome
	text       string // text that the reply must contain
}

// An answer is a person's answer to a request for approval. If Decision is empty, the person does
// not answer.
type answer struct{ Decision, Reason string }

type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed" // the tool was executed but reported an error
	refused outcome = "refused"
)

func script() []section {
	return []section{
		{"No delete without a backup", []step{
			{tool: "delete", args: `{"path":"notes.txt"}`, want: refused, text: "delete requires a successful call to backup first."},
			{tool: "backup", args: `{"path":"notes.txt","fail":true}`, want: failed, text: "the disk is full"},
			{note: "A failed backup unlocks nothing.",
				tool: "delete", args: `{"path":"notes.txt"}`, want: refused, text: "delete requires a successful call to backup first."},
			{tool: "backup", args: `{"path":"notes.txt"}`, want: passed, text: "backed up notes.txt"},
			{tool: "delete", args: `{"path":"notes.txt"}`, want: passed, text: "deleted notes.txt"},
			{note: "One backup, one delete.",
				tool: "delete", args: `{"path":"report.md"}`, want: refused, text: "delete requires a successful call to backup first."},
		}},
		{"A limit runs out", []step{
			{tool: "push", args: `{"branch":"fix"}`, want: passed, text: "push number 1"},
			{tool: "push", args: `{"branch":"fix"}`, want: passed, text: "push number 2"},
			{tool: "push", args: `{"branch":"fix"}`, want: refused, text: "push has reached its limit of 2 calls per session."},
		}},
		{"The shell is open, rm is not", []step{
			{tool: "bash", args: `{"command":"echo hello"}`, want: passed, text: "hello"},
			{tool: "bash", args: `{"command":"rm -rf report.md"}`, want: refused, text: "bash `rm -rf report.md` (rm) is blocked and cannot be called."},
			{tool: "bash", args: `{"command":"echo tidying && sudo rm report.md"}`, want: refused, text: "bash `echo tidying && sudo rm report.md` (rm) is blocked and cannot be called."},
			{note: "The file is still there.",
				tool: "bash", args: `{"command":"cat report.md"}`, want: passed, text: "Quarterly report"},
		}},
		{"A pipeline that cannot be skipped", []step{
			{tool: "deploy", args: `{"env":"staging"}`, want: refused, text: "The order is lint, test, build, deploy"},
			{tool: "lint", args: `{}`, want: passed, text: "no problems"},
			{tool: "build", args: `{}`, want: refused, text: "The order is lint, test, build, deploy"},
			{tool: "test", args: `{"fail":true}`, want: failed, text: "1 of 42 tests failed"},
			{note: "Failed tests unlock nothing.",
				tool: "build", args: `{}`, want: refused, text: "The order is lint, test, build, deploy"},
			{tool: "test", args: `{}`, want: passed, text: "42 tests passed"},
			{tool: "build", args: `{}`, want: passed, text: "built version 1.0.1"},
		}},
		{"A person decides", []step{
			{tool: "deploy", args: `{"env":"production"}`, answer: answer{"deny", "staging first"}, want: refused, text: "staging first"},
			{note: "A denial costs nothing: the build still stands.",
				tool: "deploy", args: `{"env":"staging"}`, answer: answer{"approve", ""}, want: passed, text: "deployed version 1.0.1 to staging"},
			{note: "One approval, one call. The pipeline is back at its start, and no one is asked.",
				tool: "deploy", args: `{"env":"staging"}`, want: refused, text: "The order is lint, test, build, deploy"},
		}},
	}
}
