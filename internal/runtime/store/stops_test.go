package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/admission"
	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store"
)

func ExampleStops() {
	ctx, kill := context.Background(), store.NewStops(audit.NewRecorder(nil, time.Now))
	_, err := kill.Set(ctx, admission.Stop{Session: "s", Actor: "ann"}, true, audit.Operator{})
	fmt.Println(kill.Stopped("s").Actor, kill.Stopped("other"), err)
	_, err = kill.Set(ctx, admission.Stop{Session: "s"}, false, audit.Operator{})
	fmt.Println(kill.Stopped("s"), err)
	// Output:
	// ann <nil> <nil>
	// <nil> <nil>
}
