// A timer that calls a method of the immortal again and again. The method is kept by name, so that the timer outlives processes,
// checkpoints and builds. Invariant: armed, or its handler runs, or it is stopped.
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Ambrosia;

internal sealed class Recurrence(ulong number, long dueUs, long periodUs, string declaringType, string method) : WaitingTimer(number, dueUs)
{
    private const BindingFlags Instance = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private readonly long periodUs = periodUs;
    private readonly string declaringType = declaringType;
    private readonly string method = method;
    private bool isStopped;

    /// <summary>The handler that has not finished yet; null: none runs.</summary>
    private Source? running;

    [NotState]
    private ImmortalRuntime? runtime;

    [NotState]
    private Delegate? handler;

    internal bool IsStopped => isStopped;

    internal string Method => method;

    /// <exception cref="ArgumentException">The handler is not a method of the immortal.</exception>
    internal static Recurrence Of(ImmortalRuntime runtime, ulong number, long dueUs, long periodUs, Delegate handler)
    {
        MethodInfo method = handler.Method;
        bool isOwn = handler.HasSingleTarget && handler.Target is Immortal target && ReferenceEquals(target.Runtime, runtime);
        if (!isOwn || method.IsGenericMethod || method.IsDefined(typeof(CompilerGeneratedAttribute), inherit: false)
            || method.Name.Contains('<'))
            throw new ArgumentException(
                $"{method.Name} is not a method of the immortal: a periodic timer keeps its handler by name, since no lambda outlives the process.",
                nameof(handler));
        return new Recurrence(number, dueUs, periodUs, method.DeclaringType!.FullName!, method.Name)
        {
            runtime = runtime, handler = handler
        };
    }

    internal override bool Fire(ImmortalRuntime firedBy)
    {
        Disarm();
        try
        {
            Source? call = Handler() switch
            {
                Func<Call> handler => handler().Source,
                Delegate handler => CallNow((Action)handler),
            };
            if (call is { IsDone: false })
            {
                running = call;
                call.AwaitedBy(this);
                return false;
            }
            if (call?.Error is { } failure) firedBy.FailUnheard(Name, failure);
        }
        catch (Exception e) when (ImmortalRuntime.IsOfHandler(e))
        {
            firedBy.FailUnheard(Name, e);
        }
        GoOn(firedBy);
        return isStopped;
    }

    /// <summary>The handler was suspended and has finished.</summary>
    internal override void Resume()
    {
        ImmortalRuntime session = runtime ?? throw new InvalidOperationException("A periodic timer without a session.");
        if (running?.Error is { } failure) session.FailUnheard(Name, failure);
        running = null;
        GoOn(session);
        if (isStopped) session.Timers.Cancel(this);
    }

    /// <summary>A restored one gets its session.</summary>
    /// <exception cref="InvalidDataException">The app has no such method any more.</exception>
    internal void Attach(ImmortalRuntime restoredBy)
    {
        runtime = restoredBy;
        Handler();
    }

    /// <summary>While its handler is suspended it stays in the table, which an image restores with its session.</summary>
    internal void Stop()
    {
        ImmortalRuntime session = runtime ?? throw new InvalidOperationException("A periodic timer without a session.");
        session.Surroundings.CheckHandler();
        isStopped = true;
        if (running is null) session.Timers.Cancel(this);
    }

    private string Name => $"{declaringType}.{method}";

    /// <summary>Periods that passed while nobody was primary, or while the handler ran, are not made up for.</summary>
    private void GoOn(ImmortalRuntime session)
    {
        if (isStopped) return;
        long late = Math.Max(0, session.Surroundings.NowUs - DueUs);
        Arm(DueUs + (late / periodUs + 1) * periodUs);
        session.Timers.Armed(this);
    }

    private Delegate Handler() => handler ??= Bind(runtime!.Immortal!);

    private Delegate Bind(Immortal immortal)
    {
        MethodInfo? found = null;
        for (Type? type = immortal.GetType(); type is not null && found?.DeclaringType?.FullName != declaringType; type = type.BaseType)
            if (type.GetMethod(method, Instance, []) is { } here && (found is null || type.FullName == declaringType)) found = here;
        if (found?.ReturnType == typeof(Call)) return found.CreateDelegate<Func<Call>>(immortal);
        if (found?.ReturnType == typeof(void)) return found.CreateDelegate<Action>(immortal);
        throw new InvalidDataException($"The image holds a periodic timer of {Name}(), which this app does not have.");
    }

    private static Source? CallNow(Action handler)
    {
        handler();
        return null;
    }
}
