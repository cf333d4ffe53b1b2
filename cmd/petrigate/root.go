package main

import "github.com/spf13/cobra"

func newRoot(s stdio) *cobra.Command {
	root := &cobra.Command{
		Use:     "petrigate",
		Short:   "An MCP proxy that gates tool calls with Petri nets",
		Version: versionString(),
		Long: "petrigate sits between an MCP client and its servers, and lets a tool call pass only if every rule and net of\n" +
			"the policy allows it. To start, run: petrigate demo",
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
		&cobra.Group{ID: "operate", Title: "Operate running proxies:"}, &cobra.Group{ID: "more", Title: "More:"})
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
		c.Long = "completion prints a shell script that completes verbs, flags, files, and the approvals, sessions and nets of\n" +
			"running proxies. See the help of each shell for where to put the script."
	}
	root.InitDefaultHelpCmd()
	root.AddCommand(newTopics()...)
	addExamples(root)
	strictUsage(root)
	return root
}

func addGroup(root *cobra.Command, id string, verbs ...*cobra.Command) {
	for _, c := range verbs {
		c.GroupID = id
	}
	root.AddCommand(verbs...)
}
