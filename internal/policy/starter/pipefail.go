package starter

import "github.com/petrigate/petrigate/internal/agenttool"

// OffersPipefail reports whether to suggest the setting shell.pipefail. With this setting, a test
// run inside a pipe satisfies rules that require tests. The setting is not suggested if the
// configuration already has the key shell, or if nothing is written because a policy already
// exists.
func (plan *Plan) OffersPipefail() bool {
	return plan.agent != nil && plan.tested && plan.ExistingPolicy == "" && !plan.shell && agenttool.TakesScript(plan.agent.Name)
}

// AddPipefail adds the key shell.pipefail to the new configuration.
func (plan *Plan) AddPipefail() (err error) {
	plan.After, err = splice(plan.After, []key{{"shell", "shell: { pipefail: add }", `"shell": { "pipefail": "add" }`}})
	plan.pipefail = true
	return err
}
