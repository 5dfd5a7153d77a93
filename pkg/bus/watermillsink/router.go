package watermillsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/message/router/middleware"

	"github.com/timerbus/timerbus/pkg/bus"
)

// newRouter makes the router that commands come through. What is added first is outermost:
//
//	labelled      a message without metadata gets some, which the poison queue writes into
//	correlation   what handlers produce has the command's correlation id
//	poison queue  an error refuses the command: it goes to the dead, and is acknowledged
//	panics        are logged with their stack and become errors that can be shown
//	recoverer     catches panics
//	throttle      if one was asked for; behind the recoverer, so that what is refused counts too
//	the user's
//
// and in the middle is the intake, which waits until the command is committed and answered.
func (s *Sink) newRouter(in *intake, messages <-chan *message.Message, unsubscribe context.CancelFunc) (*message.Router, error) {
	router, err := message.NewRouter(message.RouterConfig{CloseTimeout: s.config.CloseTimeout}, quiet(s.config.Logger))
	if err != nil {
		return nil, fmt.Errorf("make a router: %w", err)
	}
	poison, err := middleware.PoisonQueueWithFilter(refusals{s}, s.TopicName(bus.Dead), func(err error) bool {
		return !errors.Is(err, errGivenBack)
	})
	if err != nil {
		return nil, fmt.Errorf("make the poison queue: %w", err)
	}
	router.AddMiddleware(labelled, middleware.CorrelationID, poison, s.panics, middleware.Recoverer)
	if n := s.config.CommandsPerSecond; n > 0 {
		router.AddMiddleware(in.throttle(n))
	}
	router.AddMiddleware(s.config.Middleware...)
	router.AddConsumerHandler("timerbus-commands", s.TopicName(bus.Commands), subscription{messages, unsubscribe}, in.take)
	return router, nil
}

func labelled(next message.HandlerFunc) message.HandlerFunc {
	return func(m *message.Message) ([]*message.Message, error) {
		if m.Metadata == nil {
			m.Metadata = message.Metadata{}
		}
		return next(m)
	}
}

// panics keeps stack traces out of what others get to read.
func (s *Sink) panics(next message.HandlerFunc) message.HandlerFunc {
	return func(m *message.Message) ([]*message.Message, error) {
		produced, err := next(m)
		if panicked, is := errors.AsType[middleware.RecoveredPanicError](err); is {
			s.config.Logger.Error("a middleware panicked", "message", m.UUID, "panic", panicked.V, "stack", panicked.Stacktrace)
			err = fmt.Errorf("%w: %v", errPanicked, panicked.V)
		}
		return produced, err
	}
}

var errPanicked = errors.New("a middleware panicked")

// quiet leaves a router's news to those who look for them: of what ends a round the sink tells itself.
func quiet(l *slog.Logger) watermill.LoggerAdapter {
	return watermill.NewSlogLoggerWithLevelMapping(l, map[slog.Level]slog.Level{
		slog.LevelError: slog.LevelDebug, slog.LevelInfo: slog.LevelDebug, slog.LevelDebug: watermill.LevelTrace,
	})
}

// subscription is a Subscriber that has subscribed already. A router that closes it ends the subscription and
// leaves the user's Subscriber open.
type subscription struct {
	messages    <-chan *message.Message
	unsubscribe context.CancelFunc
}

func (s subscription) Subscribe(context.Context, string) (<-chan *message.Message, error) {
	return s.messages, nil
}

func (s subscription) Close() error {
	s.unsubscribe()
	return nil
}
