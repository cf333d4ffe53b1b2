package starter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/agenttool"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/policy/toolkind"
	"github.com/petrigate/petrigate/internal/text"
)

// Initial limits. They are high enough for most work, but they stop a runaway agent.
const (
	maxInARow   = 5
	maxChanges  = 50 // maximum number of changes per server and session
	maxMessages = 20 // maximum number of messages per session
	maxSum      = 100
	maxPayments = 5 // maximum number of payments per session; used if the amounts are unknown
)

// A statementGroup is a group of lines with a comment above it. A group without lines is omitted.
type statementGroup struct {
	comment string
	lines   []line
}

// A line is a line of the rules file that contains a statement.
type line struct {
	text string
	// perName contains a separate line for each name in the statement. It is nil if the statement
	// has a single name.
	perName []line
}

func (s *statementGroup) add(format string, args ...any) {
	s.lines = append(s.lines, line{text: fmt.Sprintf(format, args...)})
}

// A proposal is a policy under construction.
type proposal struct {
	servers []server
	missing []string // servers that did not respond
	deny    bool     // whether calls are denied by default unless a rule names them
	rules   []statementGroup
	claims  statementGroup
}

// tools returns the tools of all servers.
func (p *proposal) tools() (all []tool) {
	for _, s := range p.servers {
		all = append(all, s.tools...)
	}
	return all
}

// approvalNames returns the names that approval statements use for the tools of the given kind.
func (p *proposal) approvalNames(kind toolkind.Kind) (names []string) {
	for _, t := range p.tools() {
		switch {
		case t.Kind != kind:
		case p.deny: // every name without a rule is denied by default
			names = append(names, t.name)
		default:
			names = append(names, t.asked)
		}
	}
	return names
}

// propose adds all groups of statements to the proposal.
func (p *proposal) propose() {
	for i := range p.servers {
		p.addReadRules(&p.servers[i])
		p.addChangeRules(&p.servers[i])
		p.addSuccesses(&p.servers[i])
	}
	p.addApprovals()
	p.addMessageRules()
	p.addPaymentRules()
	p.addSecretRules()
	if p.deny {
		p.addGroup("Agents' own tools, such as Bash and Edit, do not belong to these servers: they are allowed. petrigate init claude-code proposes rules for them.",
			line{text: "allow " + strings.Join(p.agents(), ".*, ") + ".*"})
		p.addGroup("Prompts and the servers' resources are allowed. Calls that no rule names are refused (default: deny).", line{text: "allow prompt:*, resource:*"})
	}
}

// agents returns the agents whose built-in tools the rules can name, as in "claude-code.*". It
// omits agents with the same name as a server.
func (p *proposal) agents() []string {
	return slices.DeleteFunc(agenttool.Agents(), func(agent string) bool {
		return slices.ContainsFunc(p.servers, func(s server) bool { return s.name == agent }) || slices.Contains(p.missing, agent)
	})
}

func (p *proposal) addGroup(comment string, lines ...line) {
	p.rules = append(p.rules, statementGroup{comment, lines})
}

// addClaims adds claims about the tools with the given names.
func (p *proposal) addClaims(format string, names []string) {
	p.claims.lines = append(p.claims.lines, formatLines(format, names)...)
}

// addBudget adds a rule that limits the number of calls to the given tools per session.
func (p *proposal) addBudget(comment string, names []string, count int) {
	p.addGroup(comment, formatLines("limit %s to "+strconv.Itoa(count)+" per session", names)...)
	p.addClaims("prove at-most "+strconv.Itoa(count)+" %s per session", names)
}

// addReadRules adds rules for read-only tools. They only limit the number of identical calls in a
// row.
func (p *proposal) addReadRules(s *server) {
	p.addGroup(fmt.Sprintf("%s: calls that only read are allowed. The same call %d times in a row means that the agent is stuck.", text.Escape(s.name), maxInARow+1),
		formatLines("limit %s to "+strconv.Itoa(maxInARow)+" in a row", ofKind(s.tools, toolkind.Read, toolkind.Outside))...)
}

// addChangeRules adds rules that limit the number of reversible changes. It also adds rules that
// require that an item is read before it is changed or removed.
func (p *proposal) addChangeRules(s *server) {
	p.addBudget(text.Escape(s.name)+": changes, with a budget for each session.", ofKind(s.tools, toolkind.Write, toolkind.Edit), maxChanges)
	looks := statementGroup{comment: text.Escape(s.name) + ": nothing is changed or removed unless it was looked at first in this session, under the same name."}
	for _, t := range s.tools {
		if t.Kind != toolkind.Edit && t.Kind != toolkind.Destroy {
			continue
		}
		readers, key := s.readersOf(t)
		if len(readers) == 0 {
			continue
		}
		looks.add("require %s before %s once with same %s", strings.Join(readers, " or "), t.name, key)
		if len(readers) == 1 {
			p.claims.add("prove never %s before %s once with same %s", t.name, readers[0], key)
		}
	}
	p.rules = append(p.rules, looks)
}

// addSuccesses adds success statements for tools that run scripts but do not report failures
// through isError.
func (p *proposal) addSuccesses(s *server) {
	group := statementGroup{comment: text.Escape(s.name) + ": its results do not show whether a script failed or is still running, so none of these calls counts as a success."}
	for _, t := range s.tools {
		if condition := s.success[t.bare]; condition != "" && condition != "true" {
			group.add("success %s when %q", t.name, condition)
		}
	}
	p.rules = append(p.rules, group)
}

// addApprovals adds rules that require approval for tools whose effect is irreversible or unclear.
func (p *proposal) addApprovals() {
	reasons := []struct {
		kind    toolkind.Kind
		comment string
	}{
		{toolkind.Publish, "A published version cannot be withdrawn: a person approves each call."},
		{toolkind.Destroy, "Removed or overwritten data is lost: a person approves each call."},
		{toolkind.Run, "These run commands or code, which can do anything: a person approves each call."},
		{toolkind.Pay, "These move money: a person approves each call."},
		{toolkind.Secret, "These may return keys and passwords to the model: a person approves each call."},
		{toolkind.Unclear, "It is unclear what these do: a person approves each call, until you know more."},
	}
	var all []string
	for _, r := range reasons {
		names := p.approvalNames(r.kind)
		p.addGroup(r.comment, formatLines("require human-approval before %s", names)...)
		all = append(all, names...)
	}
	p.addClaims("prove never %s without human-approval", all)
}

// addMessageRules adds rules for messages to other people. They limit the number of messages. They
// also require approval for a message if the session may already have read untrusted content.
func (p *proposal) addMessageRules() {
	names, outside := ofKind(p.tools(), toolkind.Send), ofKind(p.tools(), toolkind.Outside)
	p.addBudget("These send data to others: a budget for each session.", names, maxMessages)
	var lines []line
	for _, after := range groups(outside) {
		lines = append(lines, formatLines("require human-approval before %s after "+after, names)...)
		p.addClaims("prove never %s after "+after+" without human-approval", names)
	}
	p.addGroup("Once the session has read content that strangers may have written, a person approves what goes out.", lines...)
}

// addPaymentRules adds rules that limit the total amount of payments or, if the amounts are
// unknown, their number.
func (p *proposal) addPaymentRules() {
	for _, t := range p.tools() {
		switch {
		case t.Kind != toolkind.Pay:
		case len(t.Fields.Amounts) > 0:
			p.addGroup("The sum for each user and day. Set it to what you can lose.",
				line{text: fmt.Sprintf("limit %s to %d of %s per user per day", t.name, maxSum, t.Fields.Amounts[0])})
		default:
			p.addGroup("Few payments in a session: no argument gives the amount.", line{text: fmt.Sprintf("limit %s to %d per session", t.name, maxPayments)})
		}
	}
}

// secretPath matches files that contain keys or passwords, and files in directories that contain
// such files.
const secretPath = `/(^|[\/\\])(\.env|\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.kube|id_(rsa|ed25519))/i`

// addSecretRules adds rules that require approval before any tool accesses a file that contains
// keys or passwords.
func (p *proposal) addSecretRules() {
	var fields []string
	for _, t := range p.tools() {
		fields = append(fields, t.Fields.Files...)
	}
	if len(fields) == 0 {
		return
	}
	slices.Sort(fields)
	class := p.unusedName("secret-path")
	group := statementGroup{comment: "Files that hold keys and passwords, with any tool: require approval."}
	for _, f := range slices.Compact(fields) {
		group.add("map *.%s %s as %s", f, secretPath, class)
	}
	group.add("require human-approval before %s", class)
	p.rules = append(p.rules, group)
	p.claims.add("prove never %s without human-approval", class)
}

// unusedName returns a name that no tool has, for use in a map statement. If a tool had the name,
// rules for the name would apply to the tool, too. If the given name is already used, unusedName
// appends a number.
func (p *proposal) unusedName(name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(p.tools(), func(t tool) bool { return strings.EqualFold(t.bare, name) || strings.EqualFold(t.name, name) })
	}
	next := name
	for n := 2; taken(next); n++ {
		next = fmt.Sprintf("%s-%d", name, n)
	}
	return next
}

// groups divides names into comma-separated lists, one for each rule. A quoted name or a glob with
// ? gets its own rule. All other names share a rule.
func groups(names []string) (all []string) {
	var plain, odd []string
	for _, n := range names {
		if strings.ContainsAny(n, `"?`) {
			odd = append(odd, n)
		} else {
			plain = append(plain, n)
		}
	}
	if len(plain) > 0 {
		all = append(all, strings.Join(plain, ", "))
	}
	return append(all, odd...)
}

// formatLines divides the names with [groups] and returns a line for each group. In the given
// format, %s stands for the group.
func formatLines(form string, names []string) (lines []line) {
	before, after, _ := strings.Cut(form, "%s")
	for _, group := range groups(names) {
		l := line{text: before + group + after}
		if words := strings.Split(group, ", "); len(words) > 1 && !strings.HasPrefix(group, `"`) {
			l.perName = list.Map(words, func(name string) line { return line{text: before + name + after} })
		}
		lines = append(lines, l)
	}
	return lines
}
