package starter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
)

// An Agent is an AI agent with built-in tools. Package starter can propose a policy for these
// tools.
type Agent struct{ agenttool.Agent }

// Agents returns all known agents.
func Agents() []Agent {
	return list.Map(agenttool.All(), func(a agenttool.Agent) Agent { return Agent{a} })
}

// AgentOf returns the agent with the given name or client name; "petrigate connect" uses client
// names. The second result reports whether such an agent exists.
func AgentOf(name string) (Agent, bool) {
	a, ok := agenttool.Find(name)
	return Agent{a}, ok
}

// FileName returns the name of the agent's rules file in the configuration's directory.
func (a Agent) FileName() string { return a.Name + ".rules" }

// names returns the agent's tools as a list for rules. Each name is qualified with the agent's
// name, so that rules do not apply to servers' tools.
func (a Agent) names(tools ...string) string {
	return strings.Join(list.Map(tools, func(t string) string { return a.Name + "." + t }), ", ")
}

// quotedNames returns the agent's tools as a list of quoted names for map statements. Without
// quotes, the part of a name after the dot would be read as a field.
func (a Agent) quotedNames(tools ...string) string {
	return `"` + strings.ReplaceAll(a.names(tools...), ", ", `", "`) + `"`
}

// approvalCommands lists the shell commands that require approval, in groups. Map statements in the
// rules assign the label of a group to all its commands.
var approvalCommands = []struct {
	label, comment string
	commands       []string
}{
	{"wipe", "Deleted files cannot be restored.", []string{"rm -rf"}},
	{"force-push", "A forced push removes what others have pushed.", []string{"git push --force"}},
	{"publish", "A published version cannot be withdrawn.", []string{
		"npm publish", "pnpm publish", "yarn publish", "yarn npm publish", "bun publish", "lerna publish", "changeset publish",
		"twine upload", "uv publish", "poetry publish", "hatch publish", "flit publish", "cargo publish", "gem push",
		"docker push", "docker image push", "docker compose push", "gh release create",
	}},
	{"apply", "These change what runs elsewhere.", []string{
		"terraform apply", "terraform destroy", "tofu apply", "tofu destroy", "pulumi up", "pulumi destroy", "kubectl apply", "kubectl delete",
		"helm install", "helm upgrade", "helm rollback", "helm uninstall",
	}},
}

// secretFile matches files that contain keys and passwords. It does not match ".env.example".
const secretFile = `(\.env(\.(local|dev|development|prod|production|staging))?|\.netrc|id_(rsa|ecdsa|ed25519))$|(^|[\/\\])\.(ssh|aws|gnupg|kube)([\/\\]|$)`

// rules returns the content of a rules file for the agent's built-in tools. tests contains the
// commands that run the project's tests. If deny is true, the rules explicitly allow the agent's
// tools, because the configuration refuses calls that no rule names.
func (a Agent) rules(tests []string, deny bool) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("# A first policy for %s's own tools, proposed by petrigate init %s: read it, and change it.", a.Title, a.Client)
	say("# With mode: shadow, it refuses nothing and records the calls that it would refuse or require approval for.")
	if deny {
		say("\n# The configuration refuses calls that no rule names (default: deny). The tools of %s are allowed.\nallow %s.*", a.Title, a.Name)
	}
	claims := a.writePushRules(say, tests)
	labels, force := []string(nil), "force-push"
	if a.asksPush(tests) {
		force = "push" // every push requires approval anyway
	}
	for _, one := range approvalCommands {
		if one.label == "force-push" && force != one.label {
			continue
		}
		labels = append(labels, one.label)
		say("\n# %s Require approval each time.", one.comment)
		for _, c := range one.commands {
			say("map bash.command runs %s as %s", c, one.label)
		}
		say("require human-approval before %s", one.label)
	}
	a.writeSecretRules(say)
	say("\n# The same call %d times in a row means that the agent is stuck.", maxInARow+1)
	say("limit %s to %d in a row", a.names(slices.Concat(a.Shells, a.Edits, a.Reads)...), maxInARow)
	say("\n# What must always hold, whatever the agent does: petrigate check proves it.")
	for _, c := range claims {
		say("%s", c)
	}
	say("prove never %s, secret-file without human-approval", strings.Join(labels, ", "))
	say("\n# What the maps must make of a script, checked when the file is loaded.")
	for _, t := range tests {
		if !a.Silent {
			say("example %s %q as tests", a.shellField(), t)
		}
	}
	say(`example bash.command "git push -f origin main" as %s`, force)
	say(`example bash.command "rm -fr build" as wipe`)
	if force != "push" {
		say(`example bash.command "git push" not as %s`, force)
	}
	return b.String()
}

// shellField returns the text that denotes the script argument of the agent's shell tool in rules.
// It begins with the agent's name, so that a call to a server's tool named "bash" does not count as
// a test run.
func (a Agent) shellField() string {
	return fmt.Sprintf("%q.command", a.names(a.Shells[0]))
}

// asksPush reports whether every push must require approval. This is the case if rules cannot
// require tests before a push.
func (a Agent) asksPush(tests []string) bool { return a.Silent || len(tests) == 0 }

// writePushRules writes rules that require tests before a push, and returns claims about them. If
// no tests are known or no hook reports whether they passed, the rules require approval instead.
func (a Agent) writePushRules(say func(string, ...any), tests []string) (claims []string) {
	switch {
	case a.Silent:
		say("\n# Require approval before a push: %s's hooks do not report whether tests passed.", a.Title)
	case len(tests) == 0:
		say("\n# Require approval before a push: no command that runs the tests is known.")
	default:
		say("\n# A push requires that tests passed since the last change.")
		for _, t := range tests {
			say("map %s runs %s as tests", a.shellField(), t)
		}
	}
	say("map bash.command runs git push as push")
	if a.asksPush(tests) {
		say("require human-approval before push")
		return []string{"prove never push without human-approval"}
	}
	say("map %s when \"true\" as change", a.quotedNames(a.Edits...))
	say("map bash.command writes * as change")
	say("require tests before push once since change")
	return []string{"prove never push before tests once", "prove never push after change until tests", "prove always-possible push"}
}

// writeSecretRules writes rules that require approval for access to files that contain keys and
// passwords.
func (a Agent) writeSecretRules(say func(string, ...any)) {
	say("\n# Files that hold keys and passwords: require approval.")
	for _, f := range a.Fields {
		say("map *.%s /%s/i as secret-file", f, secretFile)
	}
	for _, l := range a.Lists {
		say("map %s.%s /%s/i as secret-file", a.quotedNames(l[0]), l[1], secretFile)
	}
	if a.Patch[0] != "" {
		say(`map %s.%s /\*\*\* (Add|Update|Delete) File: ([^\n]*[\/\\])?(\.env(\.(local|dev|development|prod|production|staging))?|\.netrc|id_(rsa|ecdsa|ed25519))(\n|$)/i as secret-file`, a.quotedNames(a.Patch[0]), a.Patch[1])
	}
	say("map bash.command reads .env .env.local .env.dev* .env.prod* .env.staging .netrc id_rsa id_ecdsa id_ed25519 **/.ssh/* **/.aws/* **/.gnupg/* **/.kube/* as secret-file")
	say("require human-approval before secret-file")
}
