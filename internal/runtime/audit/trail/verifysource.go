package trail

import (
	"context"
	"fmt"
)

// VerifySource verifies a log, see [Verify] and [VerifyChains].
func VerifySource(ctx context.Context, s Source) (Report, error) {
	switch s := s.(type) {
	case File:
		return Verify(ctx, s)
	case Database:
		return VerifyChains(ctx, s)
	default:
		return Report{}, fmt.Errorf("a log of type %T cannot be verified", s)
	}
}
