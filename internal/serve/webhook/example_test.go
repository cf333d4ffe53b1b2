package webhook_test

import (
	"fmt"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/serve/webhook"
	"github.com/petrigate/petrigate/proxy"
)

func Example() {
	var hook *webhook.Hook
	p, err := proxy.New(proxy.Options{Approval: proxy.Approval{
		Channels: []string{"webhook"}, Asked: func(a operator.ApprovalInfo) { hook.Asked(a) },
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	hook, err = webhook.New(webhook.Options{URL: "https://hooks.example.com/T0001", Secret: "correct horse battery staple", Approvals: p})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer hook.Close()
	defer func() { _ = p.Close() }()
	hook.Start("https://gate.example.com") // and serve hook.Handler there
	fmt.Println(hook.Status().Host, hook.Status().Answers)
	// Output: https://hooks.example.com https://gate.example.com/answer
}
