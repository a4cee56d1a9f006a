// This part of the class gives timers and tasks, whose results come from the log. The scheduler's thread.
using System.Runtime.CompilerServices;

namespace Ambrosia;

public abstract partial class Immortal
{
    /// <summary>
    /// Runs something that is no function of the log, outside of the handlers: its result is logged, and replay takes it from there. The
    /// body runs on the thread pool, in the primary alone and at least once: a primary that ends before the result is logged is followed by
    /// one that runs it again; the first logged result counts. It must not touch the state; a proxy sends impulses there. What it throws is
    /// logged too, and awaiting the task throws it as <see cref="RemoteCallException"/>. The result may be of any type that state may have.
    /// </summary>
    /// <exception cref="InvalidOperationException">No handler runs on this thread; or 1,048,576 tasks are outstanding.</exception>
    protected Call<T> NondetTask<T>(Func<T> body, NondetOptions? options = null) => new(Context.Tasks.Lambda<T>(body, options));

    /// <inheritdoc cref="NondetTask{T}(Func{T}, NondetOptions?)"/>
    [OverloadResolutionPriority(1)]
    protected Call<T> NondetTask<T>(Func<Task<T>> body, NondetOptions? options = null) => new(Context.Tasks.Lambda<T>(body, options));

    /// <inheritdoc cref="NondetTask{T}(Func{T}, NondetOptions?)"/>
    protected Call NondetTask(Action body, NondetOptions? options = null) => new(Context.Tasks.Lambda<Nothing>(body, options));

    /// <inheritdoc cref="NondetTask{T}(Func{T}, NondetOptions?)"/>
    protected Call NondetTask(Func<Task> body, NondetOptions? options = null) => new(Context.Tasks.Lambda<Nothing>(body, options));

    /// <inheritdoc cref="NondetTask{T}(Func{T}, NondetOptions?)"/>
    protected Call<T> NondetTask<T>(Func<NondetContext, T> body, NondetOptions? options = null) =>
        new(Context.Tasks.Lambda<T>(body, options));

    /// <inheritdoc cref="NondetTask{T}(Func{T}, NondetOptions?)"/>
    [OverloadResolutionPriority(1)]
    protected Call<T> NondetTask<T>(Func<NondetContext, Task<T>> body, NondetOptions? options = null) =>
        new(Context.Tasks.Lambda<T>(body, options));

    /// <inheritdoc cref="NondetTask{T}(Func{T}, NondetOptions?)"/>
    protected Call NondetTask(Action<NondetContext> body, NondetOptions? options = null) =>
        new(Context.Tasks.Lambda<Nothing>(body, options));

    /// <inheritdoc cref="NondetTask{T}(Func{T}, NondetOptions?)"/>
    protected Call NondetTask(Func<NondetContext, Task> body, NondetOptions? options = null) =>
        new(Context.Tasks.Lambda<Nothing>(body, options));

    /// <summary>
    /// The primitive form of <see cref="NondetTask{T}(Func{T}, NondetOptions?)"/>: a static method, kept by name, and its argument, kept as
    /// bytes. It survives every checkpoint and every rebuild that keeps the method; the body gets a copy of the argument.
    /// Give several as a tuple.
    /// </summary>
    /// <exception cref="ArgumentException">The body is not a static method.</exception>
    /// <exception cref="InvalidOperationException">No handler runs on this thread; or 1,048,576 tasks are outstanding.</exception>
    protected Call<T> NondetMethod<TArgument, T>(Func<TArgument, T> body, TArgument argument, NondetOptions? options = null) =>
        new(Context.Tasks.Method<TArgument, T>(body, argument, options));

    /// <inheritdoc cref="NondetMethod{TArgument, T}(Func{TArgument, T}, TArgument, NondetOptions?)"/>
    protected Call<T> NondetMethod<TArgument, T>(Func<TArgument, Task<T>> body, TArgument argument, NondetOptions? options = null) =>
        new(Context.Tasks.Method<TArgument, T>(body, argument, options));

    /// <inheritdoc cref="NondetMethod{TArgument, T}(Func{TArgument, T}, TArgument, NondetOptions?)"/>
    protected Call NondetMethod<TArgument>(Func<TArgument, Task> body, TArgument argument, NondetOptions? options = null) =>
        new(Context.Tasks.Method<TArgument, Nothing>(body, argument, options));

    /// <inheritdoc cref="NondetMethod{TArgument, T}(Func{TArgument, T}, TArgument, NondetOptions?)"/>
    protected Call<T> NondetMethod<TArgument, T>(
        Func<TArgument, NondetContext, T> body, TArgument argument, NondetOptions? options = null) =>
            new(Context.Tasks.Method<TArgument, T>(body, argument, options));

    /// <inheritdoc cref="NondetMethod{TArgument, T}(Func{TArgument, T}, TArgument, NondetOptions?)"/>
    protected Call<T> NondetMethod<TArgument, T>(
        Func<TArgument, NondetContext, Task<T>> body, TArgument argument, NondetOptions? options = null) =>
            new(Context.Tasks.Method<TArgument, T>(body, argument, options));

    /// <inheritdoc cref="NondetMethod{TArgument, T}(Func{TArgument, T}, TArgument, NondetOptions?)"/>
    protected Call NondetMethod<TArgument>(Func<TArgument, NondetContext, Task> body, TArgument argument, NondetOptions? options = null) =>
        new(Context.Tasks.Method<TArgument, Nothing>(body, argument, options));
}
