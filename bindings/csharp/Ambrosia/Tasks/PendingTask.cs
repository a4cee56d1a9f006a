using System.Buffers;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.State;
using Ambrosia.Suspension;
using Ambrosia.Tasks;

namespace Ambrosia;

/// <summary>
/// A NondetTask that somebody waits for. It is done when the first record with its result is executed. It has ordinary fields, so that it
/// is part of an image like any other object; its subclass says how the body is found again.
/// </summary>
internal abstract class PendingTask<T>(ulong number, long begunUs, NondetOptions options) : Source<T>, IPendingTask
{
    private readonly ulong _number = number;
    private readonly long _begunUs = begunUs;
    private readonly int _attempts = options.Attempts;
    private readonly TimeSpan _backoff = options.Backoff, _backoffMax = options.BackoffMax;
    private readonly TimeSpan? _deadline = options.Deadline;
    private readonly Func<Exception, bool>? _retry = options.Retry;
    private readonly string[]? _final = options.Final;

    ulong IPendingTask.Number => _number;

    Source IPendingTask.Source => this;

    long IPendingTask.BegunUs => _begunUs;

    NondetOptions IPendingTask.Options => new()
    {
        Attempts = _attempts, Backoff = _backoff, BackoffMax = _backoffMax, Deadline = _deadline, Retry = _retry, Final = _final ?? [],
    };

    string IPendingTask.BodyName => BodyName;

    /// <summary>The task is done when it is asked, and its body is gone.</summary>
    internal override string Place => _place is { Length: > 0 } body ? $"A task of {body}" : "A task";

    [NotState]
    private string? _place;

    /// <inheritdoc cref="IPendingTask.BodyName"/>
    private protected abstract string BodyName { get; }

    async Task<byte[]> IPendingTask.RunBody(NondetContext context)
    {
        T value = await Body(context).ConfigureAwait(false);
        var encoded = new ArrayBufferWriter<byte>();
        ValueImage.Write(encoded, value);
        return encoded.WrittenSpan.ToArray();
    }

    void IPendingTask.Take(NondetResultRecord record, AttachProxy attach)
    {
        if (record.Failed) _place = BodyName;
        DropBody();
        if (record.Failed)
        {
            Fail(FailureCodec.Read(record.Result.Span, [], 0));
            return;
        }
        T value;
        try
        {
            value = ValueImage.Read<T>(record.Result.Span, attach);
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            // What was logged is not what this version of the app says; who awaits it must learn that, like any other failure.
            Fail(RemoteCallException.Of(ListedFailures.Of(e) ?? ListedFailures.TaskResultNotDecoded(_number), e.ToString()));
            return;
        }
        Complete(value);
    }

    /// <summary>Runs the body, on the runner's thread.</summary>
    private protected abstract Task<T> Body(NondetContext context);

    /// <summary>Forgets the body, which is not run any more.</summary>
    private protected virtual void DropBody()
    {
    }
}

/// <summary>A task whose first result has not been executed yet, without its type. <see cref="PendingTask{T}"/> implements it.</summary>
internal interface IPendingTask
{
    /// <summary>The number of the task, from 1, counted through the instance's life.</summary>
    ulong Number { get; }

    Source Source { get; }

    NondetOptions Options { get; }

    /// <summary>The method in whose code the body stands, for people.</summary>
    string BodyName { get; }

    /// <summary>The log time of the call, in µs since 1970.</summary>
    long BegunUs { get; }

    /// <summary>Runs the body once, on the runner's thread. What it throws is the task's failure.</summary>
    /// <returns>The encoded value.</returns>
    Task<byte[]> RunBody(NondetContext context);

    /// <summary>Completes the task by its record, inside the scheduler.</summary>
    void Take(NondetResultRecord record, AttachProxy attach);
}

/// <summary>
/// A task whose body is a delegate. While one is outstanding a checkpoint holds the delegate with what it captures, as any other that is
/// alive over an await; what of it cannot be written postpones the checkpoint.
/// </summary>
internal sealed class LambdaTask<T>(
    ulong number, long begunUs, NondetOptions options, Delegate body) : PendingTask<T>(number, begunUs, options), ITaskBody
{
    /// <summary>The body; null once the task is done: what it captures need not be writable any more.</summary>
    private Delegate? _body = body;

    private protected override string BodyName => _body is { Method: { } method } ? MethodNames.Of(method) : "";

    private protected override async Task<T> Body(NondetContext context)
    {
        switch (_body)
        {
            case Func<Task<T>> start: return await start().ConfigureAwait(false);
            case Func<NondetContext, Task<T>> start: return await start(context).ConfigureAwait(false);
            case Func<T> compute: return compute();
            case Func<NondetContext, T> compute: return compute(context);
            case Func<Task> start: await start().ConfigureAwait(false); return default!;
            case Func<NondetContext, Task> start: await start(context).ConfigureAwait(false); return default!;
            case Action act: act(); return default!;
            case Action<NondetContext> act: act(context); return default!;
            default: throw new InvalidOperationException($"The body of a task is a {_body?.GetType()}.");
        }
    }

    private protected override void DropBody() => _body = null;
}

/// <summary>
/// A task in the primitive form: a static method by name and its argument as bytes, so that it outlives the process without anything else.
/// Its body gets a copy of the argument, so it can share nothing with the state.
/// </summary>
internal sealed class MethodTask<TArgument, T>(
    ulong number, long begunUs, NondetOptions options, byte[] declaringType, string method, byte[] argument)
    : PendingTask<T>(number, begunUs, options)
{
    private const BindingFlags Static = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    /// <summary>The class of the method, as an image names it.</summary>
    private readonly byte[] _declaringType = declaringType;
    private readonly string _method = method;
    private readonly byte[] _argument = argument;

    private protected override string BodyName
    {
        get
        {
            var from = new CborReader(_declaringType);
            return $"{TypeNames.Read(ref from, KeptBodies.None, out string? missing)?.FullName ?? missing}.{_method}";
        }
    }

    /// <exception cref="ArgumentException">The body is not a static method.</exception>
    /// <exception cref="NotWritableException">The argument cannot be written.</exception>
    internal static MethodTask<TArgument, T> Of(ulong number, long begunUs, NondetOptions options, Delegate body, TArgument argument)
    {
        MethodInfo method = body.Method;
        if (!method.IsStatic || method.IsGenericMethod || method.IsDefined(typeof(CompilerGeneratedAttribute), inherit: false)
            || method.Name.Contains('<'))
            throw new MisusedArgumentException(Misuse.TaskBody, method.Name);
        ArrayBufferWriter<byte> type = new(), encoded = new();
        var typeTo = new CborWriter(type);
        TypeNames.Write(ref typeTo, method.DeclaringType!, moving: null);
        typeTo.Flush();
        ValueImage.Write(encoded, argument);
        return new MethodTask<TArgument, T>(number, begunUs, options, type.WrittenSpan.ToArray(), method.Name,
            encoded.WrittenSpan.ToArray());
    }

    private protected override async Task<T> Body(NondetContext context)
    {
        TArgument given = ValueImage.Read<TArgument>(_argument,
            static (_, id) => throw new InvalidDataException($"the argument of a task refers to {id}: a proxy is for handlers"));
        switch (Find())
        {
            case Func<TArgument, Task<T>> start: return await start(given).ConfigureAwait(false);
            case Func<TArgument, NondetContext, Task<T>> start: return await start(given, context).ConfigureAwait(false);
            case Func<TArgument, T> compute: return compute(given);
            case Func<TArgument, NondetContext, T> compute: return compute(given, context);
            case Func<TArgument, Task> start: await start(given).ConfigureAwait(false); return default!;
            case Func<TArgument, NondetContext, Task> start: await start(given, context).ConfigureAwait(false); return default!;
            default: throw new InvalidDataException($"the image holds a task of {_method}, which this app does not have in that form");
        }
    }

    private Delegate? Find()
    {
        var from = new CborReader(_declaringType);
        Type type = TypeNames.Read(ref from, KeptBodies.None, out string? missing) ?? throw GraphReader.Missing(missing!);
        bool hasContext = false;
        MethodInfo? found = type.GetMethod(_method, Static, [typeof(TArgument)]);
        if (found is null)
        {
            found = type.GetMethod(_method, Static, [typeof(TArgument), typeof(NondetContext)]);
            hasContext = true;
        }
        if (found is null) return null;
        Type form = hasContext ? typeof(Func<,,>).MakeGenericType(typeof(TArgument), typeof(NondetContext), found.ReturnType)
            : typeof(Func<,>).MakeGenericType(typeof(TArgument), found.ReturnType);
        return found.ReturnType == typeof(void) ? null : found.CreateDelegate(form);
    }
}
