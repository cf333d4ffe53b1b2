package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/rules"
)

// newTopics returns the help pages for topics other than commands.
func newTopics() []*cobra.Command {
	topics := []*cobra.Command{
		{Use: "rules", Short: "The language of rules on one screen", Long: rulesTopic},
		{Use: "environment", Short: "Environment variables and file locations", Long: environmentTopic},
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitTopic},
	}
	for _, c := range topics {
		c.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = fmt.Fprint(c.OutOrStdout(), c.Long) })
	}
	return topics
}

var rulesTopic = `A file of rules has one rule per line; # starts a comment. All rules apply together, in any
order: one refusal is enough. Calls that no rule covers pass (default: deny refuses them).

  require backup before delete                each delete needs its own successful backup
  require review before release once          one review is enough for the session
  require human-approval before deploy        a person must approve; "via cli" or "via elicit" sets the channel
  block shutdown                              never
  limit push to 3 per session                 or per ` + strings.Join(rules.TimeSpans(), ", ") + `, in the session; per user: across sessions
  limit retry to 2 per test                   each test allows one more retry
  limit upload to 1 per successful scan       each successful scan allows one more upload

  require test or lint before push, publish   lists of names; either test or lint is enough
  require test before push since edit_file    only a test after the last edit counts
  require test before push once since edit_file  one test allows several pushes until the next edit
  block send_email after fetch_url until ok   from a call of one tool until another succeeds
  require backup before delete with same path  each path on its own; or: with same src as path
  limit post to 3 per session for each channel
  limit deploy to 1 at once                   calls in flight
  limit * to 3 in a row                       the same call again and again
  limit pay to 100 of amount per user per day  the sum of an argument
  require 2 human-approvals before deploy     two different people
  allow read_*                                passes even with default: deny

  map bash.command runs rm as remove          a name for calls of bash whose script runs rm
  map bash.command runs exactly npm test as t  without further arguments; runs git log *: with any
  map bash.command writes * as edit           for scripts that write such a file; or: reads .env*
  map bash.command rm as remove               for calls with the word rm in the argument command
  map bash.command /git\s+push/i as push      for calls that match a regular expression
  map Edit, Write.path /\.env/ as secret      for several tools
  map pay when "args.amount > 100" as large   for calls that satisfy a CEL expression
  example bash.command "sudo rm x" as remove  a test of the maps; or: not as

  success sh when "result.exitCode == 0"      what a successful result looks like

  limit bash to 20 per session unless ls      exempts calls that certainly have that name
  shadow block push                           records the calls it would refuse, and lets them pass
  block cargo because "Use mise run instead."  refusals by the rule begin with this text

  prove never deploy before test              a claim, which check proves or refutes
  prove never delete without human-approval
  prove at-most 3 push per session
  prove reachable deploy                      in a new session
  prove always-possible deploy                from every state a session can reach

Names are those of tools (delete), of a tool of a server (github.delete), of a tool with an action
(discord.ban), patterns (delete_*), or anything in quotes. petrigate check FILE.rules finds mistakes, and
petrigate explain TOOL --rules FILE.rules shows the verdict on a call.
`

const environmentTopic = `Variables that petrigate reads:

  PETRIGATE_CONFIG         the configuration file, unless --config names one
  PETRIGATE_LISTEN_HTTP    and others: override a scalar of listen, approval, audit or log in the configuration.
                           The name is the key's path in capitals (PETRIGATE_APPROVAL_HOLD,
                           PETRIGATE_LOG_LEVEL, PETRIGATE_LISTEN_TOKEN_FILE, ...). Flags take precedence
  PETRIGATE_REQUIRE_BASE   base policies that every configuration must extend, as for --require-base of serve,
                           separated by spaces
  PETRIGATE_RUNTIME_DIR    the folder for the sockets that status, tools, approvals, sessions and nets use to
                           reach running proxies
  NO_COLOR, TERM           no color if NO_COLOR is set or TERM is dumb; never in a pipe
  BROWSER                  the program that login opens pages with
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                           proxies for servers and base policies on other machines

File locations:

  configuration            --config, else $PETRIGATE_CONFIG, else ./petrigate.yaml (terminal commands, not serve),
                           else petrigate/petrigate.yaml in the user's configuration directory ($XDG_CONFIG_HOME,
                           usually ~/.config). ./petrigate.yaml is only read as text until you trust it
  token for HTTP, logins   petrigate in $XDG_STATE_HOME, usually ~/.local/state; logins go to the keyring if there
                           is one
  sockets                  $PETRIGATE_RUNTIME_DIR, else petrigate in $XDG_RUNTIME_DIR or /run/user/UID, else
                           petrigate-UID in the temporary directory
`

const exitTopic = `  0  success
  1  runtime error; a file is not formatted (fmt --check); a case cannot be read (eval)
  2  usage error
  3  the configuration, rules or a net are invalid, or a claim is not proved; diff is incomplete and found no difference
  4  an eval answer differs, a policy test fails, diff --fail-on finds a difference of that kind, audit verify
     finds a change, or replay finds a broken chain or (--detailed-exitcode) a different decision
  5  the call is refused (explain --exit-code)
  6  the call requires approval (explain --exit-code)
  7  a server does not answer (check --live, init), or a doctor check failed
`
