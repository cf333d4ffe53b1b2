package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newTopics returns the help pages that belong to no command.
func newTopics() []*cobra.Command {
	topics := []*cobra.Command{
		{Use: "rules", Short: "The language of rules on one screen", Long: rulesTopic},
		{Use: "environment", Short: "Environment variables, and where files are", Long: environmentTopic},
		{Use: "exit-codes", Short: "What the exit codes mean", Long: exitTopic},
	}
	for _, c := range topics {
		c.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = fmt.Fprint(c.OutOrStdout(), c.Long) })
	}
	return topics
}

const rulesTopic = `A file of rules has one rule a line; # begins a comment. All rules hold at once, whatever their
order: one that refuses is enough. What no rule names passes (default: deny refuses it).

  require backup before delete                each delete needs a successful backup of its own
  require review before release once          one is enough for the session
  require human-approval before deploy        a person is asked; "via cli" or "via elicit": how
  block shutdown                              never
  limit push to 3 per session                 or per second, minute, hour, day of the session; per user: all of theirs
  limit retry to 2 per test                   each test gives one back
  limit upload to 1 per successful scan       each scan that succeeds gives one back

  require test or lint before push, publish   lists of names; either of two is enough
  require test before push since edit_file    only a test after the last edit counts
  require test before push once since edit_file  one test is good for several pushes until the next edit
  block send_email after fetch_url until ok   from a call of one tool until another succeeds
  require backup before delete with same path  each path on its own; or: with same src as path
  limit post to 3 per session for each channel
  limit deploy to 1 at once                   calls under way
  limit * to 3 in a row                       the same call again and again
  limit pay to 100 of amount per user per day  the sum of an argument
  require 2 human-approvals before deploy     two different people
  allow read_*                                passes where the default is to deny

  map bash.command runs rm as remove          a name for calls of bash whose script runs rm
  map bash.command runs exactly npm test as t  with no other arguments; runs git log *: with any
  map bash.command writes * as edit           for calls whose script writes such a file; or: reads .env*
  map bash.command rm as remove               for those with the word rm in the argument command
  map bash.command /git\s+push/i as push      for those that match a regular expression
  map Edit, Write.path /\.env/ as secret      for several tools
  map pay when "args.amount > 100" as large   for those of which an expression (CEL) is true
  example bash.command "sudo rm x" as remove  what the maps must make of a call; or: not as

  success sh when "result.exitCode == 0"      what a successful result looks like

  limit bash to 20 per session unless ls      spares the calls that certainly have that name
  shadow block push                           records what it would refuse, and lets it pass
  block cargo because "Use mise run instead."  refusals of the rule begin with these words

  prove never deploy before test              claims, which check proves or refutes
  prove never delete without human-approval
  prove at-most 3 push per session
  prove reachable deploy                      in a new session
  prove always-possible deploy                from wherever a session has got to

Names are those of tools (delete), of a tool of a server (github.delete), of a tool with an action
(discord.ban), patterns (delete_*), or anything in quotes. petrigate check FILE.rules finds mistakes, and
petrigate explain TOOL --rules FILE.rules says what becomes of a call.
`

const environmentTopic = `Variables that petrigate reads:

  PETRIGATE_CONFIG         the configuration, where --config does not name one
  PETRIGATE_LISTEN_HTTP    and others: a scalar of listen, approval, audit and log in place of the
                           configuration's, by its path in capitals (PETRIGATE_APPROVAL_HOLD, PETRIGATE_LOG_LEVEL,
                           PETRIGATE_LISTEN_TOKEN_FILE, ...); a flag goes before it
  PETRIGATE_REQUIRE_BASE   base policies that every configuration has to extend, as --require-base of serve takes
                           them, with spaces between
  PETRIGATE_RUNTIME_DIR    where running proxies have the sockets by which status, tools, approvals, sessions and
                           nets reach them
  NO_COLOR, TERM           no color where NO_COLOR is set, or TERM is dumb; never in a pipe
  BROWSER                  what login opens pages with
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                           for servers over HTTP, and base policies, that are not on this machine

Where things are:

  configuration            --config, else $PETRIGATE_CONFIG, else ./petrigate.yaml (verbs of a terminal, not serve),
                           else petrigate/petrigate.yaml below the configuration directory of the user
                           ($XDG_CONFIG_HOME, usually ~/.config). ./petrigate.yaml is text until you trust it
  token for HTTP, logins   petrigate below $XDG_STATE_HOME, usually ~/.local/state; logins in the keyring where
                           there is one
  sockets                  $PETRIGATE_RUNTIME_DIR, else petrigate below $XDG_RUNTIME_DIR or /run/user/UID, else
                           petrigate-UID in the temporary directory
`

const exitTopic = `  0  success
  1  runtime error; a file is not formatted (fmt --check); a case cannot be read (eval)
  2  usage error
  3  the configuration, rules or a net are invalid, or a claim is not proved; diff has not decided
  4  an answer of eval is not the expected one, a policy test fails, or diff --fail-on
  5  the call is refused (explain --exit-code)
  6  a person is asked about the call (explain --exit-code)
  7  a server does not answer (check --live, init), or a check of doctor failed
`
