package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/serve/daemon"
)

// Exit codes.
const (
	exitOK       = 0
	exitFailed   = 1 // runtime error
	exitUsage    = 2
	exitInvalid  = 3 // invalid configuration, rules or net
	exitDiffers  = 4 // a policy test failed, diff found what --fail-on names, or a log was changed
	exitUpstream = 7
)

// version is set by the linker in a release.
var version = ""

// stdio holds the streams and hang-up signals of a command.
type stdio struct {
	in       io.Reader
	out, err io.Writer
	hup      *hangUps // nil: SIGHUP ends the program
}

// An exitError is an error with an exit code for the program.
type exitError struct {
	code int
	err  error // nil: the problem was printed already
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// run executes the command in args and returns the exit code.
func run(ctx context.Context, args []string, s stdio) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted") // the user sent the signal and need not know which step it stopped
	}
	return report(s.err, err)
}

// report prints err, if it was not printed yet, and returns the exit code for it.
func report(w io.Writer, err error) int {
	var coded *exitError
	var problems diag.List
	var invalid *daemon.InvalidError
	if list, rest := check.ConfigProblems(err); rest == nil && len(list) > 0 {
		err = list
	}
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &coded):
		if coded.err != nil {
			printError(w, coded.err)
		}
		return coded.code
	case errors.As(err, &problems):
		printProblems(w, problems)
		return exitInvalid
	case errors.As(err, &invalid), errors.Is(err, config.ErrNotFound):
		printError(w, err)
		return exitInvalid
	default:
		printError(w, err)
		return exitFailed
	}
}

func printError(w io.Writer, err error) { _, _ = fmt.Fprintf(w, "petrigate: %v\n", err) }

func newRoot(s stdio) *cobra.Command {
	root := &cobra.Command{
		Use:     "petrigate",
		Short:   "An MCP proxy that gates tool calls by Petri nets",
		Version: versionString(),
		Long: "petrigate stands between an MCP client and its servers and lets a tool call pass when every rule\n" +
			"and net of the policy allows it. Begin with: petrigate demo",
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("petrigate {{.Version}}\n")
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.PersistentFlags().String("config", "", "configuration `file` (default: see petrigate help environment)")
	root.AddGroup(&cobra.Group{ID: "gate", Title: "Gate tools:"}, &cobra.Group{ID: "policy", Title: "Write a policy:"},
		&cobra.Group{ID: "operate", Title: "Operate what runs:"}, &cobra.Group{ID: "more", Title: "More:"})
	addGroup(root, "gate", newDemo(s), newServe(s), newWrap(s), newHook(s), newImport(s), newConnect(s), newDisconnect(s), newDoctor(s))
	addGroup(root, "policy", newInit(s), newSuggest(s), newEnforce(s), newCheck(s), newTest(s), newExplain(s), newSimulate(s), newGraph(s), newDiff(s), newFmt(s), newSchema(s), newLSP(s))
	addGroup(root, "operate", newLogin(s), newLogout(s), newStatus(s), newTools(s), newApprovals(s), newOpen(s), newSessions(s), newNets(s), newReload(s), newStop(s), newStart(s), newAudit(s), newReplay(s))
	root.SetHelpCommand(newHelp(root))
	addGroup(root, "more", newAnalyze(s), newEval(s), newVersion(s))
	root.AddCommand(newDemoUpstream(s), newMan(s))
	root.SetHelpCommandGroupID("more")
	root.SetCompletionCommandGroupID("more")
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short, c.RunE = "Print a script that completes commands in your shell", requireSubcommand
		c.Long = "completion prints a script for a shell, with which the tab key completes verbs, flags, files, and what\n" +
			"running proxies have: approvals, sessions, nets. The help of each shell says where the script goes."
	}
	root.InitDefaultHelpCmd()
	root.AddCommand(newTopics()...)
	addExamples(root)
	completeVerbs(root)
	strictUsage(root)
	return root
}

func addGroup(root *cobra.Command, id string, verbs ...*cobra.Command) {
	for _, c := range verbs {
		c.GroupID = id
	}
	root.AddCommand(verbs...)
}

// versionString returns the version of the release, or the module version of the build.
func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func newVersion(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs}
	return answering(c, s, "petrigate", func([]string) (any, func() error, error) {
		return versionString(), func() error {
			_, err := fmt.Fprintln(s.out, "petrigate", versionString())
			return err
		}, nil
	})
}

// actor returns the name of the operator, for the audit log.
func actor() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME", "USERNAME"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" { // hooks and services run without these variables
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
