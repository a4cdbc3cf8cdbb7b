#pragma once
// Queue (and, for who goes on, stack) of objects linked through a member of their own: no memory, an object
// stands in at most one.

namespace matchrdma {

/// `Next` is the link: IntrusiveFifo<Flow, &Flow::next>. Does not know whether an object is queued: its owner
/// does.
template <typename T, T* T::*Next>
class IntrusiveFifo {
 public:
  bool empty() const { return head_ == nullptr; }
  void push(T& t) {
    t.*Next = nullptr;
    if (tail_ != nullptr) {
      tail_->*Next = &t;
    } else {
      head_ = &t;
    }
    tail_ = &t;
  }
  void push_front(T& t) {
    t.*Next = head_;
    head_ = &t;
    if (tail_ == nullptr) tail_ = &t;
  }
  /// Not on an empty queue.
  T& pop() {
    T& t = *head_;
    head_ = t.*Next;
    if (head_ == nullptr) tail_ = nullptr;
    t.*Next = nullptr;
    return t;
  }
  /// Takes `t` out wherever it stands; false if it is not here.
  bool remove(T& t) {
    T* before = nullptr;
    for (T* c = head_; c != nullptr; before = c, c = c->*Next) {
      if (c != &t) continue;
      (before == nullptr ? head_ : before->*Next) = t.*Next;
      if (tail_ == &t) tail_ = before;
      t.*Next = nullptr;
      return true;
    }
    return false;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace matchrdma
