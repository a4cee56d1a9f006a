// The primitive form: a static method by name and its argument as bytes, so that it outlives the process without anything else. The body
// gets a copy of the argument, so it can share nothing with the state.
using System.Buffers;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class MethodTask<TArgument, T>(
    ulong number, long begunUs, NondetOptions options, byte[] declaringType, string method, byte[] argument)
    : PendingTask<T>(number, begunUs, options)
{
    private const BindingFlags Static = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    /// <summary>As in an image.</summary>
    private readonly byte[] declaringType = declaringType;
    private readonly string method = method;
    private readonly byte[] argument = argument;

    /// <exception cref="ArgumentException">The body is not a static method.</exception>
    /// <exception cref="NotWritableException">The argument cannot be written.</exception>
    internal static MethodTask<TArgument, T> Of(ulong number, long begunUs, NondetOptions options, Delegate body, TArgument argument)
    {
        MethodInfo method = body.Method;
        if (!method.IsStatic || method.IsGenericMethod || method.IsDefined(typeof(CompilerGeneratedAttribute), inherit: false)
            || method.Name.Contains('<'))
            throw new ArgumentException($"{method.Name} is not a static method: the task keeps its body by name. NondetTask takes lambdas.",
                nameof(body));
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
        TArgument given = ValueImage.Read<TArgument>(argument,
            static id => throw new InvalidDataException($"the argument of a task refers to {id}: a proxy is for handlers"));
        switch (Find())
        {
            case Func<TArgument, Task<T>> start: return await start(given).ConfigureAwait(false);
            case Func<TArgument, NondetContext, Task<T>> start: return await start(given, context).ConfigureAwait(false);
            case Func<TArgument, T> compute: return compute(given);
            case Func<TArgument, NondetContext, T> compute: return compute(given, context);
            case Func<TArgument, Task> start: await start(given).ConfigureAwait(false); return default!;
            case Func<TArgument, NondetContext, Task> start: await start(given, context).ConfigureAwait(false); return default!;
            default: throw new InvalidDataException($"the image holds a task of {method}, which this app does not have in that form");
        }
    }

    private Delegate? Find()
    {
        var from = new CborReader(declaringType);
        Type type = TypeNames.Read(ref from, out string? missing) ?? throw GraphReader.Missing(missing!);
        bool hasContext = false;
        MethodInfo? found = type.GetMethod(method, Static, [typeof(TArgument)]);
        if (found is null)
        {
            found = type.GetMethod(method, Static, [typeof(TArgument), typeof(NondetContext)]);
            hasContext = true;
        }
        if (found is null) return null;
        Type form = hasContext ? typeof(Func<,,>).MakeGenericType(typeof(TArgument), typeof(NondetContext), found.ReturnType)
            : typeof(Func<,>).MakeGenericType(typeof(TArgument), found.ReturnType);
        return found.ReturnType == typeof(void) ? null : found.CreateDelegate(form);
    }
}
