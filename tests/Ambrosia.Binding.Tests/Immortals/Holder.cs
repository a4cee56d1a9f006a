using System.Globalization;
using System.Reflection;

namespace Ambrosia.Binding.Tests;

public interface IHolder
{
    /// <summary>Begins one of each, and waits for whatever is to end.</summary>
    [MethodId(1)]
    Call Begin();

    /// <summary>Stops, cancels and gives up what does not end by itself.</summary>
    [MethodId(2)]
    void EndAll();

    /// <summary>Uses every public member of every handle.</summary>
    [MethodId(3)]
    void UseAll();

    /// <summary>Sets the periodic timer that was stopped again, as code does that does not ask whether it runs.</summary>
    [MethodId(4)]
    void Restart();
}

/// <summary>Keeps one of each handle of the binding in its state, beyond the end of what it stands for.</summary>
public sealed partial class Holder : Immortal<IHolderProxy>, IHolder
{
    internal readonly List<string> Seen = [];

    /// <summary>The handles by what they stand for.</summary>
    private readonly SortedDictionary<string, object> _handles = new(StringComparer.Ordinal);

    private readonly CallCancellation _cancellation = new();

    public async Call Begin()
    {
        ProxyOf<IBank> gone = GetProxy<IBank>("bank3");
        IBankProxy typed = gone;
        _handles["peer that is forgotten"] = gone;
        _handles["peer that is forgotten, generated proxy"] = typed;
        _handles["this"] = thisProxy;
        _handles["cancellation"] = _cancellation;
        _handles["timer, stopped"] = Every(TimeSpan.FromMilliseconds(1), Tick);
        _handles["timer, stopped while its handler waits"] = Every(TimeSpan.FromMilliseconds(1), TickSlowly);
        _handles["timer, none"] = default(RecurringTimer);
        _handles["call that was never made"] = default(Call);
        _handles["call with a result from the beginning"] = Call.FromResult("at once");
        _handles["delay, over"] = Delay(TimeSpan.FromMilliseconds(1));
        _handles["delay, too late"] = Delay(TimeSpan.FromDays(1)).Within(TimeSpan.FromMilliseconds(2));
        _handles["delay, cancelled"] = Delay(TimeSpan.FromDays(1)).CancelledBy(_cancellation);
        _handles["call, answered"] = GetProxy<IBank>("bank2").BalanceAsync("ann");
        _handles["call, failed"] = GetProxy<IBank>("bank2").BalanceAsync("bob");
        _handles["call, forgotten"] = gone.BalanceAsync("ann");
        _handles["task, done"] = NondetTask(static () => 5);
        _handles["task, failed"] = NondetTask(static () => throw new FormatException("no number"));
        _handles["method, done"] = NondetMethod(Measure, "four");
        _handles["handler's own, failed"] = Fails();
        _handles["handler's own, failed behind an await"] = FailsLater();
        _handles["several, done"] = Call.WhenAll(Delay(TimeSpan.FromMilliseconds(1)), Delay(TimeSpan.FromMilliseconds(2)));
        _handles["several, one of them failed"] = Call.WhenAll(FailsToo(), Delay(TimeSpan.FromMilliseconds(1)));
        _handles["first of several"] = Call.WhenAny(Delay(TimeSpan.FromMilliseconds(1)), Delay(TimeSpan.FromMilliseconds(3)));
        _handles["results of several"] = Call.WhenAll(Call.FromResult(1), Call.FromResult(2));
        await Delay(TimeSpan.FromMilliseconds(1));
    }

    public void EndAll()
    {
        _cancellation.Cancel();
        foreach (object handle in _handles.Values)
            if (handle is RecurringTimer timer) timer.Stop();
    }

    public void Restart()
    {
        ((RecurringTimer)_handles["timer, stopped"]).Stop();
        _handles["timer, stopped"] = Every(TimeSpan.FromMilliseconds(5), Tick);
        Seen.Add("restarted");
    }

    public void UseAll()
    {
        foreach ((string what, object handle) in _handles)
        {
            Type type = handle.GetType();
            foreach (MethodInfo member in type.GetMethods().OrderBy(static member => $"{member}", StringComparer.Ordinal))
            {
                if (member.DeclaringType == typeof(object) && member.Name == nameof(GetType)) continue;
                foreach (string outcome in Outcomes(member, handle)) Seen.Add($"{what}: {member.Name}: {outcome}");
            }
        }
    }

    /// <summary>The types of the handles that it keeps, as their definitions.</summary>
    internal IEnumerable<Type> Kinds => _handles.Values.Select(static handle => handle.GetType());

    private IEnumerable<string> Outcomes(MethodInfo member, object handle)
    {
        MethodInfo closed = !member.IsGenericMethodDefinition ? member
            : member.DeclaringType!.Name.StartsWith("ProxyOf", StringComparison.Ordinal) ? member.MakeGenericMethod(typeof(IBankProxy))
            : member.MakeGenericMethod(typeof(string));
        ParameterInfo[] parameters = closed.GetParameters();
        // A span cannot be given in this way; what takes one has a sibling that takes an array.
        if (parameters.Any(static parameter => parameter.ParameterType.IsByRefLike) || closed.ReturnType.IsByRefLike) yield break;
        object?[] arguments = [.. parameters.Select(parameter => ArgumentFor(parameter.ParameterType, handle))];
        yield return Outcome(closed, handle, arguments);
    }

    private static string Outcome(MethodInfo member, object handle, object?[] arguments)
    {
        try
        {
            object? result = member.Invoke(member.IsStatic ? null : handle, arguments);
            return member.Name == nameof(GetHashCode) ? "a number" : Text(result);
        }
        catch (TargetInvocationException e)
        {
            return Text(e.InnerException!);
        }
    }

    private object? ArgumentFor(Type type, object handle)
    {
        if (type.IsInstanceOfType(handle)) return handle;
        if (type == typeof(TimeSpan)) return TimeSpan.FromSeconds(1);
        if (type == typeof(CallCancellation)) return _cancellation;
        if (type == typeof(string)) return "ann";
        if (type.IsArray && type.GetElementType() is { } element)
        {
            var array = Array.CreateInstance(element, 1);
            if (ArgumentFor(element, handle) is { } one) array.SetValue(one, 0);
            return array;
        }
        if (type.IsGenericType && type.IsAssignableFrom(typeof(List<>).MakeGenericType(type.GetGenericArguments()[0])))
        {
            var list = (System.Collections.IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(type.GetGenericArguments()[0]))!;
            if (ArgumentFor(type.GetGenericArguments()[0], handle) is { } one) list.Add(one);
            return list;
        }
        return type.IsValueType ? Activator.CreateInstance(type) : null;
    }

    private static string Text(object? result)
    {
        switch (result)
        {
            case null: return "null";
            case Exception e: return $"{e.GetType().FullName}: {e.Message} < {e.InnerException?.Message}, {(e as RemoteCallException)?.TypeName}";
            case string or bool or int or long or Guid: return string.Create(CultureInfo.InvariantCulture, $"{result}");
            case Array array: return $"[{string.Join(", ", array.Cast<object?>().Select(Text))}]";
        }
        Type type = result.GetType();
        if (!type.Name.StartsWith("Call", StringComparison.Ordinal)) return type.Name;
        if (type.GetProperty("IsCompleted") is not { } completed || !(bool)completed.GetValue(result)!) return $"{type.Name}, not done";
        if (type.GetMethod("GetAwaiter") is { } await) return Text(await.Invoke(result, null));
        if (type.GetMethod("GetResult") is not { } get) return type.Name;
        return $"{type.Name} of {Outcome(get, result, [])}";
    }

    private static async Call<int> Fails() => throw new ArgumentOutOfRangeException("amount", 7, "too much");

    private static async Call FailsToo() => throw new NotSupportedException("not here");

    private async Call FailsLater()
    {
        await Delay(TimeSpan.FromMilliseconds(1));
        throw new InvalidOperationException("behind the await", new FormatException("its cause"));
    }

    private void Tick() => Seen.Add("tick");

    private async Call TickSlowly()
    {
        await Delay(TimeSpan.FromDays(2));
        Seen.Add("tick, slowly");
    }

    private static int Measure(string text) => text.Length;
}
