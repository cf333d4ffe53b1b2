package starter

import "github.com/petrigate/petrigate/internal/agenttool"

// OffersPipefail reports whether test runs inside a pipe would count as evidence if shell.pipefail
// were set.
func (plan *Plan) OffersPipefail() bool {
	return plan.agent != nil && plan.tested && plan.There == "" && !plan.shell && agenttool.TakesScript(plan.agent.Name)
}

// AddPipefail adds shell.pipefail to the configuration.
func (plan *Plan) AddPipefail() (err error) {
	plan.After, err = splice(plan.After, []key{{"shell", "shell: { pipefail: add }", `"shell": { "pipefail": "add" }`}})
	plan.pipefail = true
	return err
}
