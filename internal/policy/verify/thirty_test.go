package verify_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/policy/verify"
)

// thirtyMaps is a typical policy for a shell: many maps of the same field, some with the same
// label, and a rule or two about each label.
const thirtyMaps = `map bash.command runs git push as push
map bash.command runs git commit as commit
map bash.command runs git reset --hard as destroy
map bash.command runs git clean as destroy
map bash.command runs rm as delete
map bash.command runs shred as delete
map bash.command runs unlink as delete
map bash.command runs mv as move
map bash.command runs chmod as rights
map bash.command runs chown as rights
map bash.command runs curl as fetch
map bash.command runs wget as fetch
map bash.command runs npm test as test
map bash.command runs go test as test
map bash.command runs pytest as test
map bash.command runs make check as test
map bash.command runs npm install as install
map bash.command runs pip install as install
map bash.command runs npm publish as publish
map bash.command runs docker build as image
map bash.command runs docker push as image-push
map bash.command runs docker run as container
map bash.command runs kubectl apply as rollout
map bash.command runs kubectl delete as destroy
map bash.command runs terraform plan as plan
map bash.command runs terraform apply as apply
map bash.command runs terraform destroy as destroy
map bash.command runs scp as remote-copy
map bash.command runs psql as database
map bash.command runs make deploy as deploy

require test before push
require commit before push
require test before deploy
require push before deploy
limit deploy to 2 per session
require plan before apply
require human-approval before apply
require human-approval before delete
block destroy
block rights
require test before publish
require human-approval before publish
require image before image-push
require image-push before rollout
limit rollout to 2 per image-push
require human-approval before rollout
limit fetch to 20 per session
limit install to 10 per session
limit move to 5 per test
require human-approval before database
block remote-copy
limit container to 5 per user
`

// TestThirtyMaps checks that a policy with thirty maps of the same field is decided completely.
func TestThirtyMaps(t *testing.T) {
	claims := []struct {
		text string
		want verify.Result
	}{
		{"never push before test", verify.Proved},
		{"never push before commit", verify.Proved},
		{"never deploy before push", verify.Proved},
		{"never rollout before image", verify.Refuted},
		{"never destroy", verify.Proved},
		{"never rights", verify.Proved},
		{"never fetch", verify.Refuted},
		{"never delete without approval", verify.Proved},
		{"never rollout without approval", verify.Proved},
		{"never move without approval", verify.Refuted},
		{"at-most 20 fetch", verify.Proved},
		{"at-most 9 install", verify.Refuted},
		{"at-most 2 deploy", verify.Proved},
		{"reachable rollout", verify.Proved},
		{"reachable deploy", verify.Proved},
		{"reachable destroy", verify.Refuted},
		{"always-possible push", verify.Proved},
		{"always-possible apply", verify.Proved},
		{"always-possible publish", verify.Proved},
		{"always-possible rollout", verify.Proved},
		{"always-possible move", verify.Proved},
		{"always-possible delete", verify.Proved},
		{"always-possible deploy", verify.Refuted},
		{"always-possible install", verify.Refuted},
	}
	text := map[string]string{"policy.rules": thirtyMaps, "known": ""}
	for _, c := range claims {
		text["prove"] += c.text + "\n"
	}
	p, o := build(t, text)
	r := verify.Policy(p, o)
	for i, c := range claims {
		if got := r.Proofs[i]; got.Result != c.want {
			t.Errorf("prove %s: %s, want %s (%s)", c.text, got.Result, c.want, got.Why)
		}
	}
	for _, n := range r.Names {
		if n.Callable == verify.Unsure {
			t.Errorf("call %s: unknown, %s", n.Tool.Name, n.Why)
		}
	}
	replayAll(t, p, r)
	if strings.Count(thirtyMaps, "map bash.command") != 30 {
		t.Error("there are to be thirty maps")
	}
}
