var L,Rr,$n,Be,Pn,jt,Pr,Mt,Er,On,En,Ms,vt=Symbol.for("pv"),Ft={},Jt=[],Hs=/^m(i|n|o|s|text|space)$/,Nn=Array.isArray,Dn=Jt.slice,Ke=Object.assign;function ze(e){
e&&e.parentNode&&e.remove()}function $r(e,t,r){var a,s,o,i={},c=arguments.length;for(o in t)o=="key"?a=t[o]:o=="ref"&&typeof e!="function"?s=t[o]:i[o]=t[o];return c>
2&&(i.children=c>3?Dn.call(arguments,2):r),bt(e,i,a,s,null)}function bt(e,t,r,a,s){var o={type:e,props:t,key:r,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:vt,__v:s||++Rr,__i:-1,__u:0};return!s&&L.vnode&&L.
vnode(o),o}function v(e){return e.children}function st(e,t){this.props=e,this.context=t,this.__g=0}function Me(e,t){if(t==null)return e.__&&Me(e.__,e.__i+1);for(var r;t<e.
__k.length;t++)if((r=e.__k[t])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Me(e)}function js(e){var t,r=e.__v,a=r.__e,s=[],o=[],i=e.__P;
i&&((t=Ke({constructor:vt},r)).__v=r.__v+1,L.vnode&&L.vnode(t),Ln(i,t,r,e.__n,i.namespaceURI,32&r.__u?[a]:null,s,a||Me(r),32&r.__u,o),t.__v=r.__v,t.__.__k[t.__i]=
t,Ur(s,t,o),r.__=r.__e=null,t.__e!=a&&Or(t))}function Or(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),
Or(e)}function Cr(e){(8&e.__g||(e.__g|=8,Be.push(e),jt++))&&Pn==L.debounceRendering||((Pn=L.debounceRendering)||queueMicrotask)(Nr)}function Nr(){try{for(var e,
t=1;Be.length;)Be.length>t&&Be.sort(Pr),e=Be.shift(),t=Be.length,8&e.__g&&js(e)}finally{(jt=Be.length)&&(Pn||queueMicrotask)(Nr)}}function Dr(e,t,r,a,s,o,i,c,d,u,l){
var f,h,p,y,k,_,w=a.__k||Jt,b=t.length;for(d=Fs(r,t,w,d,b),f=0;f<b;f++)(p=r.__k[f])!=null&&(h=~p.__i&&w[p.__i]||Ft,p.__i=f,_=Ln(e,p,h,s,o,i,c,d,u,l),y=p.__e,(h.
ref!=p.ref||8&h.__u)&&(h.ref&&In(h.ref,null,p,h),p.ref&&l.push(p.ref,p.__c||y,p)),k=k||y,4&p.__u?(d=Lr(p,d,e,!h.__v),h.__e&&(h.__e=null)):typeof p.type=="functi\
on"&&_!==void 0?d=_:y&&(d=y.nextSibling),p.__u&=-21);return r.__e=k,d}function Fs(e,t,r,a,s){var o,i,c,d,u,l,f,h,p,y=r.length,k=y,_=0,w=0,b=e.__k=Array(s);for(o=
0;o<s;o++)(i=t[o])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=b[o]=bt(null,i):Nn(i)?i=b[o]=bt(v,{children:i}):
i.constructor===vt&&i.__b?i=b[o]=bt(i.type,i.props,i.key,i.ref,i.__v):b[o]=i,d=o+_,i.__=e,i.__b=e.__b+1,c=null,~(u=i.__i=Js(i,r,d,k))&&(k--,(c=r[u])&&(c.__u|=2)),
c&&c.__v?(i.__u|=16,u==d-1?_--:u==d+1?_++:u!=d&&(u>d?_--:_++,w=1)):(~u||(s>y?_--:s<y&&_++),typeof i.type!="function"&&(i.__u|=4))):b[o]=null;if(w){for(l=[],f=[],
o=0;o<s;o++)if((i=b[o])&&16&i.__u){for(_=0,h=l.length;_<h;)l[p=_+h>>1]<i.__i?_=p+1:h=p;l[_]=i.__i,f[o]=_+1}for(_=l.length;o--;)f[o]&&(f[o]==_?_--:b[o].__u|=4)}if(k)
for(o=0;o<y;o++)!(c=r[o])||2&c.__u||(c.__e==a&&(a=Me(c)),Un(c,c));return a}function Lr(e,t,r,a){var s,o,i,c;if(typeof e.type=="function"){if(e.props.__P)return t;
if(s=e.__k)for(o=0;o<s.length;o++)s[o]&&(s[o].__=e,t=Lr(s[o],t,r,!1));return t}for(t&&!t.parentNode&&(t=Me(e))&&!t.parentNode&&(t=null),i=e.__e,c=t;c&&c.nodeType==
8;)c=c.nextSibling;for(i!=c&&(!a&&r.moveBefore&&i.parentNode?r.moveBefore(i,t):r.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(
"$s"););return t}function Js(e,t,r,a){var s,o=e.key,i=e.type,c=t[r],d=c&&!(2&c.__u);if(c===null&&o==null||d&&o==c.key&&i==c.type)return r;if(a>(d?1:0)){for(s=r-1;s>=0;s--)if((c=
t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s;for(s=r+1;s<t.length;s++)if((c=t[s])&&!(2&c.__u)&&o==c.key&&i==c.type)return s}return-1}function Ar(e,t,r){r==null&&
(r=""),t[0]=="-"?e.setProperty(t,r):e[t]=r}function Bt(e,t,r,a,s){var o,i;if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof a=="string"&&(e.style.
cssText=a=""),a)for(t in a)r&&t in r||Ar(e.style,t);if(r)for(t in r)a&&r[t]==a[t]||Ar(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")typeof r!="function"&&(r=null),
typeof a!="function"&&(a=null),(e.__e||(e.__e={}))[t]=r,r&&a||(i=En[t]||(En[t]=qs(t)),(e.__a||(e.__a={}))[t]=On,o=t!=(t=t.replace(Er,"$1")),(t=t.slice(2))[0]<"a"&&
(t=t.toLowerCase()),r?e.addEventListener(t,i,o):e.removeEventListener(t,i,o));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)
try{return void(e[t]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r)}}function qs(e){
return function(t){var r=this.__e;if(r){if(r=r[e],t[Mt]==null)t[Mt]=On++;else if(t[Mt]<this.__a[e])return;return r(L.event?L.event(t):t)}}}function Ln(e,t,r,a,s,o,i,c,d,u){
var l,f,h,p,y,k,_,w,b,T,g,$,M,he,G,Q,q,U,D=t.type;if(t.constructor!==vt)return null;128&r.__u&&(d=32&r.__u,l=r.__c.__z)&&(t.__u|=d,f=o=[],l.nodeType==8?c=Ht(l,o):
o.push(l),c=o[0]||c),(l=L.__b)&&l(t);e:if(typeof D=="function"){h=i.length;try{if(w=t.props,b=(l=D.prototype)&&l.render,T=(l=D.contextType)&&a[l.__c],g=l?T?T.props.
value:l.__:a,(p=r.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(b?t.__c=p=new D(w,g):(t.__c=p=new st(w,g),p.constructor=D,p.render=zs),T&&T.sub(p),p.state||(p.state={}),p.
__n=a,p.__g|=8,p.__h=[],p.__k=[]),b&&(p.__s||(p.__s=p.state),D.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Ke({},p.__s)),Ke(p.__s,D.getDerivedStateFromProps(
w,p.__s)))),y=p.props,k=p.state,p.__v=t,r.__c){if(w!==y&&b&&!D.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(w,g),t.__v==r.
__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(w,p.__s,g)===!1){t.__v!=r.__v&&(p.props=w,p.state=p.__s,p.__g&=-9),t.__e=r.__e,t.__k=
r.__k,t.__k.some(function(F){F&&(F.__=t)}),Jt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),c=Me(r);break e}p.componentWillUpdate&&p.componentWillUpdate(
w,p.__s,g),b&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(y,k,_)})}else b&&!D.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),
b&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=g,p.props=w,p.__P=e,p.__g&=-5,$=L.__r,M=b?25:0;do p.__g&=-9,$&&$(t),l=p.render(p.props,p.state=
p.__s,p.context);while(8&p.__g&&++M<25);b&&(Jt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(a=Ke({},a,p.getChildContext())),b&&r.__c&&p.getSnapshotBeforeUpdate&&
(_=p.getSnapshotBeforeUpdate(y,k)),he=l&&l.type===v&&l.key==null?l.props.children:l,w.__P&&(l=c,s=(e=w.__P).namespaceURI,d=o=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(F){F&&Un(F,F)}),r.__k=null),c=r.__k?Me(r,0):null),c=Dr(e,Nn(he)?he:[he],t,r,a,s,o,i,c,d,u),w.__P&&(t.__e=null,c=l),t.__u&=-161,f&&f.some(ze),p.__h.
length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(F){if(i.length=h,t.__v=null,d||o)if(F&&F.then){if(t.__u|=128|d,o){for(~(q=o.indexOf(c||void 0))||(q=o.length);(U=o[q-
1])&&U.nodeType==8;)q--;for(;q<o.length;q++)if(U=o[q])if(o[q]=null,G){if(U==Q)break}else{if(U.nodeType!=8)break;U.data.startsWith("$s")&&(Q=Ht(G=U))}}if(!G){for(;c&&
c.nodeType==8&&c.nextSibling;)c=c.nextSibling;G=c}(l=Ht(G=t.__c.__z||(t.__c.__z=G)))?(t.__e=G,c=l):t.__e=c,c=c&&c.nextSibling}else o&&o.some(ze);else t.__e=r.__e;
t.__k||(t.__k=r.__k||[]),F&&F.then||Ir(t),L.__e(F,t,r)}}else c=t.__e=Ws(r.__e,t,r,a,s,o,i,d,u,e);return(l=L.diffed)&&l(t),c}function Ht(e,t){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}t&&t.push(
e)}}function Ir(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Ir))}function Ur(e,t,r){for(var a=0;a<r.length;)In(r[a++],r[a++],r[a++]);L.__c&&L.__c(t,e),e.some(
function(s){try{e=s.__h,s.__h=[],e.some(function(o){o.call(s)})}catch(o){L.__e(o,s.__v)}})}function Ws(e,t,r,a,s,o,i,c,d,u){var l,f,h,p,y,k,_,w,b=r.props||Ft,T=t.
props,g=t.type;if(g=="svg"?s="http://www.w3.org/2000/svg":g=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),o){for(l=0;l<o.
length;l++)if((y=o[l])&&(g?y.localName==g:y.nodeType==3)){e=y,o[l]=null;break}}if(!e){if(w=u.ownerDocument||document,!g)return w.createTextNode(T);e=w.createElementNS(
s,g,T.is?T:u),c&&(L.__m&&L.__m(t,o),c=!1),o=null}if(g){if(u=g=="template"&&e.content||e,o=g=="textarea"&&T.defaultValue!=null?null:o&&Dn.call(u.childNodes),!c&&
o)for(b={},l=0;l<e.attributes.length;l++)b[(y=e.attributes[l]).name]=y.value;for(l in b)y=b[l],l=="dangerouslySetInnerHTML"?h=y:l=="children"||l in T||l=="value"&&
"defaultValue"in T||l=="checked"&&"defaultChecked"in T||Bt(e,l,null,y,s);for(l in T)y=T[l],l=="children"?p=y:l=="dangerouslySetInnerHTML"?f=y:l=="value"?k=y:l==
"checked"?_=y:c&&typeof y!="function"||b[l]===y||Bt(e,l,y,b[l],s);f?(c||h&&(f.__html==h.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),t.__k=[]):(h&&(e.
textContent=""),(g=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&Hs.test(g))&&(s="http://www.w3.org/1999/xhtml"),Dr(u,Nn(p)?p:[p],t,r,a,s,o,i,o?o[0]:
r.__k&&Me(r,0),c,d),o&&o.some(ze)),c&&g!="textarea"||(l="value",g=="progress"&&k==null?e.removeAttribute(l):k==null||k===e[l]&&(g!="progress"||k)||Bt(e,l,k,b[l],
s),l="checked",_!=null&&_!=e[l]&&Bt(e,l,_,b[l],s))}else b===T||c&&e.data==T||(e.data=T);return e}function In(e,t,r,a){try{typeof e=="function"?t?t.__x=e(t)||1:a&&
(a=a.__c||a.__e)&&(t=a.__x)&&(a.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){L.__e(s,r)}}function Un(e,t,r){var a,s,o,i;if(L.unmount&&L.unmount(
e),!(a=e.ref)||a.current&&a.current!=e.__e||In(a,null,t,e),a=e.__c){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(c){L.__e(c,t)}a.__P=a.__n=null}
if(a=e.__k)for(i=0;i<a.length;i++)a[i]&&Un(a[i],t,typeof e.type!="function"||r&&!e.props.__P);!r&&(a=e.__c)&&(a=a.__z)&&(s=Ht(a,o=[]))&&(a==e.__e&&o.some(ze),ze(
s),ze(a)),r||ze(e.__e),e.__e=e.__c=e.__=null}function zs(e,t,r){return this.constructor(e,r)}function Br(e,t){var r,a,s,o;L.__&&L.__(e,t),t.nodeType==9&&(t=t.documentElement),
a=(r=e&&32&e.__u)?null:t.__k,t.__k=bt(v,{children:[e]}),s=[],o=[],Ln(t,t.__k,a||Ft,Ft,t.namespaceURI,a?null:t.firstChild?Dn.call(t.childNodes):null,s,a?a.__e:t.
firstChild,r,o),Ur(s,t.__k,o),t.__k.props.children=null}L={__e:function(e,t,r,a){for(var s,o,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(o=s.constructor)&&o.getDerivedStateFromError)&&s.setState(o.getDerivedStateFromError(
e)),s.componentDidCatch&&(s.componentDidCatch(e,a||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(c){e=c}}throw jt=0,e}},Rr=0,$n=function(e){return e!=null&&e.
constructor===vt},st.prototype.setState=function(e,t){var r=this.__s;r&&r!=this.state||(r=this.__s=Ke({},this.state)),typeof e=="function"&&(e=e(Ke({},r),this.props)),
e&&(Ke(r,e),this.__v&&(t&&this.__k.push(t),Cr(this)))},st.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Cr(this))},st.prototype.render=
v,Be=[],jt=0,Pr=function(e,t){return e.__v.__b-t.__v.__b},Mt=Symbol(),Er=/(PointerCapture)$|Capture$/i,On=0,En={},Ms=0;var Ve,ee,Bn,Mr,Mn=Object.is,qt=0,Vr=[],Hn=[],X=L,Hr=X.__b,jr=X.__r,Fr=X.diffed,Jr=X.__c,qr=X.unmount,Wr=X.__;function kt(e,t){X.__h&&X.__h(ee,e,qt||t),qt=0;var r=ee.
__H||(ee.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function m(e){return qt=1,Ks(Zr,e)}function Ks(e,t,r){var a=kt(Ve++,2);if(a.t=e,!a.__c&&
(a.__=[r?r(t):Zr(void 0,t),function(o){var i=(a.__N||a.__)[0],c=a.t(i,o);Mn(i,c)||(a.__N=[c,a.__[1]],a.__c.setState({}))}],a.__c=ee,!ee.__f)){ee.__f=!0;var s=ee.
shouldComponentUpdate;ee.shouldComponentUpdate=function(o,i,c){var d=this.__H;if(!d)return!0;var u=!1,l=this.props!=o;if(d.__.some(function(h){h.__N&&(u=!0,Mn(h.
__[0],h.__N[0])||(l=!0))}),s){var f=s.call(this,o,i,c);return u?f||l:f}return!u||l}}return a.__}function te(e,t){var r=kt(Ve++,3);!X.__s&&Fn(r.__H,t)&&(r.__P=!0,
r.__=e,r.u=t,ee.__H.__h.push(r))}function Wt(e,t){var r=kt(Ve++,4);!X.__s&&Fn(r.__H,t)&&(r.__P=!1,r.__=e,r.u=t,ee.__h.push(r))}function K(e){return qt=5,zt(function(){
return{current:e}},[])}function zt(e,t){var r=kt(Ve++,7);return Fn(r.__H,t)&&(r.__=e(),r.__H=t),r.__}function xt(){var e=kt(Ve++,11);if(!e.__){for(var t=ee.__v;!t.__m&&t.__;)t=t.__;var r=t.__m||(t.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function Vs(){var e;
do{for(;e=Hn.shift();)try{wt(e)}catch(r){X.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=Vr.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(wt),t.__h.some(jn),t.__h=[]}catch(r){
t.__h=[],X.__e(r,e.__v)}}}while(Hn.length)}X.__b=function(e){ee=null,Hr&&Hr(e)},X.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),Wr&&Wr(e,t)},X.__r=function(e){
jr&&jr(e),Ve=0;var t=(ee=e.__c).__H;t&&(Bn==ee?ee.__h=[]:(t.__h.some(wt),t.__h.some(jn),Ve=0),t.__h=[],t.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
Bn=ee},X.diffed=function(e){Fr&&Fr(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Kr(Vr.push(t)),t.__H.__.some(function(r){r.u&&(r.__H=r.u)})),Bn=ee=null},X.__c=function(e,t){
t.some(function(r){try{r.__h.some(wt),r.__h=r.__h.filter(function(a){return!a.__||jn(a)})}catch(a){r.__h=[function(){throw a}]}}),Jr&&Jr(e,t)},X.unmount=function(e){
qr&&qr(e);var t,r,a=e.__c;a&&a.__H&&(a.__H.__.some(function(s){try{if(s.__P&&s.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}s.__P=r,
Kr(Hn.push(s))}else wt(s)}catch(o){t=o}}),a.__H=void 0,t&&X.__e(t,a.__v))};var zr=typeof requestAnimationFrame=="function";function Zs(e){var t,r=function(){clearTimeout(
a),zr&&cancelAnimationFrame(t),setTimeout(e)},a=setTimeout(r,35);zr&&(t=requestAnimationFrame(r))}function Kr(e){e!=1&&Mr==X.requestAnimationFrame||((Mr=X.requestAnimationFrame)||
Zs)(Vs)}function wt(e){var t=ee,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),ee=t}function jn(e){var t=ee;e.__c=e.__(),ee=t}function Fn(e,t){return!e||e.length!=
t.length||t.some(function(r,a){return!Mn(r,e[a])})}function Zr(e,t){return typeof t=="function"?t(e):t}var Gs=Symbol.for("preact-signals");function Gt(){if(Ne>1)Ne--;else{var e,t=!1;for((function(){var s=Vt;for(Vt=void 0;s!==void 0;){var o=s.S;if(o.v===s.v)for(var i=o.
t;i!==void 0;i=i.x)i.i===s.i&&(i.i=o.i);s=s.o}})();Tt!==void 0;){var r=Tt;for(Tt=void 0,Kt++;r!==void 0;){var a=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&Yr(r))try{r.
c()}catch(s){t||(e=s,t=!0)}r=a}}if(Kt=0,Ne--,t)throw e}}function qn(e){if(Ne>0)return e();Jn=++Ys,Ne++;try{return e()}finally{Gt()}}var St,z=void 0;function Ct(e){
var t=z,r=St;z=void 0,St=void 0;try{return e()}finally{z=t,St=r}}var Tt=void 0,Ne=0,Kt=0,Ys=0,Jn=0,Vt=void 0,Zt=0;function Gr(e){if(z!==void 0){var t=e.n;if(t===
void 0||t.t!==z)return t={i:0,S:e,p:z.s,n:void 0,t:z,e:void 0,x:void 0,r:t},z.s!==void 0&&(z.s.n=t),z.s=t,e.n=t,32&z.f&&e.S(t),t;if(t.i===-1)return t.i=0,t.n!==
void 0&&(t.n.p=t.p,t.p!==void 0&&(t.p.n=t.n),t.p=z.s,t.n=void 0,z.s.n=t,z.s=t),t}}function ae(e,t){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
t?.watched,this.Z=t?.unwatched,this.name=t?.name}ae.prototype.brand=Gs;ae.prototype.h=function(){return!0};ae.prototype.S=function(e){var t=this,r=this.t;r!==e&&
e.e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:Ct(function(){var a;(a=t.W)==null||a.call(t)}))};ae.prototype.U=function(e){var t=this;if(this.t!==void 0){var r=e.
e,a=e.x;r!==void 0&&(r.x=a,e.e=void 0),a!==void 0&&(a.e=r,e.x=void 0),e===this.t&&(this.t=a,a===void 0&&Ct(function(){var s;(s=t.Z)==null||s.call(t)}))}};ae.prototype.
subscribe=function(e){var t=this;return be(function(){var r=t.value;Ct(function(){return e(r)})},{name:"sub"})};ae.prototype.valueOf=function(){return this.value};
ae.prototype.toString=function(){return this.value+""};ae.prototype.toJSON=function(){return this.value};ae.prototype.peek=function(){var e=this;return Ct(function(){
return e.value})};Object.defineProperty(ae.prototype,"value",{get:function(){var e=Gr(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.
v){if(Kt>100)throw new Error("Cycle detected");(function(r){Ne!==0&&Kt===0&&r.l!==Jn&&(r.l=Jn,Vt={S:r,v:r.v,i:r.i,o:Vt})})(this),this.v=e,this.i++,Zt++,Ne++;try{
for(var t=this.t;t!==void 0;t=t.x)t.t.N()}finally{Gt()}}}});function V(e,t){return new ae(e,t)}function Yr(e){for(var t=e.s;t!==void 0;t=t.n)if(t.S.i!==t.i||!t.
S.h()||t.S.i!==t.i)return!0;return!1}function Qr(e){for(var t=e.s;t!==void 0;t=t.n){var r=t.S.n;if(r!==void 0&&(t.r=r),t.S.n=t,t.i=-1,t.n===void 0){e.s=t;break}}}
function Xr(e){for(var t=e.s,r=void 0;t!==void 0;){var a=t.p;t.i===-1?(t.S.U(t),a!==void 0&&(a.n=t.n),t.n!==void 0&&(t.n.p=a)):r=t,t.S.n=t.r,t.r!==void 0&&(t.r=
void 0),t=a}e.s=r}function Ze(e,t){ae.call(this,void 0,t),this.x=e,this.s=void 0,this.g=Zt-1,this.f=4}Ze.prototype=new ae;Ze.prototype.h=function(){if(this.f&=-3,
1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===Zt))return!0;if(this.g=Zt,this.f|=1,this.i>0&&!Yr(this))return this.f&=-2,!0;var e=z;try{Qr(this),z=this;
var t=this.x();(16&this.f||this.v!==t||this.i===0)&&(this.v=t,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return z=e,Xr(this),this.f&=-2,!0};Ze.
prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var t=this.s;t!==void 0;t=t.n)t.S.S(t)}ae.prototype.S.call(this,e)};Ze.prototype.U=function(e){if(this.
t!==void 0&&(ae.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var t=this.s;t!==void 0;t=t.n)t.S.U(t)}};Ze.prototype.N=function(){if(!(2&this.f)){this.
f|=6;for(var e=this.t;e!==void 0;e=e.x)e.t.N()}};Object.defineProperty(Ze.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Gr(
this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.v}});function Ge(e,t){return new Ze(e,t)}function ea(e){var t=e.j;if(e.j=void 0,typeof t==
"function"){Ne++;var r=z;z=void 0;try{t()}catch(a){throw e.f&=-2,e.f|=8,Wn(e),a}finally{z=r,Gt()}}}function Wn(e){for(var t=e.s;t!==void 0;t=t.n)t.S.U(t);e.x=void 0,
e.s=void 0,ea(e)}function Qs(e){if(z!==this)throw new Error("Out-of-order effect");Xr(this),z=e,this.f&=-2;try{8&this.f&&Wn(this)}finally{Gt()}}function ot(e,t){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=t?.name,St&&St.push(this)}ot.prototype.c=function(){var e=this.S();try{if(8&this.f||this.
x===void 0)return;var t=this.x();typeof t=="function"&&(this.j=t)}finally{e()}};ot.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=
1,this.f&=-9,ea(this),Qr(this),Ne++;var e=z;return z=this,Qs.bind(this,e)};ot.prototype.N=function(){2&this.f||(this.f|=2,this.u=Tt,Tt=this)};ot.prototype.d=function(){
this.f|=8,1&this.f||Wn(this)};ot.prototype.dispose=function(){this.d()};function be(e,t){var r=new ot(e,t);try{r.c()}catch(s){throw r.d(),s}var a=r.d.bind(r);return a[Symbol.
dispose]=a,a}var ta,Qt,Yt,Xs=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var na=[];be(function(){ta=this.N})();function it(e,t){L[e]=t.bind(null,L[e]||function(){})}function At(e){if(Yt){var t=Yt;Yt=void 0,t()}Yt=e&&e.S()}function ra(e){
var t=this,r=e.data,a=to(r);a.name="ReactiveDom",a.value=r;var s=zt(function(){for(var c=t,d=t.__v;d=d.__;)if(d.__c){d.__c.__$f|=4;break}var u=Ge(function(){var p=a.
value.value;return p===0?0:p===!0?"":p||""}),l=Ge(function(){return!Array.isArray(u.value)&&!$n(u.value)}),f=be(function(){if(this.N=aa,l.value){var p=u.value;c.
__v&&c.__v.__e&&c.__v.__e.nodeType===3&&(c.__v.__e.data=p)}}),h=t.__$u.d;return t.__$u.d=function(){f(),h.call(this)},[l,u]},[]),o=s[0],i=s[1];return o.value?i.
peek():i.value}ra.displayName="ReactiveTextNode";Object.defineProperties(ae.prototype,{constructor:{configurable:!0,value:$r(v,null).constructor},type:{configurable:!0,
value:ra},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});it("__b",function(e,t){if(At(),
Qt=void 0,typeof t.type=="string"){var r,a=t.props;for(var s in a)if(s!=="children"){var o=a[s];o instanceof ae&&(r||(t.__np=r={}),r[s]=o,a[s]=o.peek())}}e(t)});
it("__r",function(e,t){if(e(t),t.type!==v){At();var r,a=t.__c;a&&(a.__$f&=-2,(r=a.__$u)===void 0&&(a.__$u=r=(function(s,o){var i;return be(function(){i=this},{name:o}),
i.c=s,i})((function(s){return function(){var o;Xs&&((o=this.y)==null||o.call(this)),s.__$f|=1,s.setState({})}})(a),typeof t.type=="function"?t.type.displayName||
t.type.name:""))),Qt=a,At(r)}});it("__e",function(e,t,r,a){At(),Qt=void 0,e(t,r,a)});it("diffed",function(e,t){At(),Qt=void 0;var r;if(typeof t.type=="string"&&
(r=t.__e)){var a=t.__np,s=t.props,o=r.U;if(o)for(var i in o){var c=o[i];c===void 0||a&&i in a||(c.d(),o[i]=void 0)}if(a){o||(o={},r.U=o);for(var d in a){var u=o[d],
l=a[d];u===void 0?(u=eo(r,d,l,s),o[d]=u):u.o(l,s)}}}e(t)});function eo(e,t,r,a){var s=t in e&&e.ownerSVGElement===void 0,o=V(r);return{o:function(i,c){o.value=i,
a=c},d:be(function(){this.N=aa;var i=o.value.value;a[t]!==i&&(a[t]=i,s?e[t]=i:i!=null&&(i!==!1||t[4]==="-")?e.setAttribute(t,i):e.removeAttribute(t))})}}it("unm\
ount",function(e,t){if(typeof t.type=="string"){var r=t.__e;if(r){var a=r.U;if(a){r.U=void 0;for(var s in a){var o=a[s];o&&o.d()}}}var i=t.__np;if(i){var c=t.props;
for(var d in i)c[d]=i[d]}t.__np=void 0}else{var u=t.__c;if(u){u.__$f|=8;var l=u.__$u;l&&(u.__$u=void 0,l.d())}}e(t)});it("__h",function(e,t,r,a){a<3&&(t.__$f|=2),
e(t,r,a)});st.prototype.shouldComponentUpdate=function(e,t){if(this.__R)return!0;var r=this.__$u,a=r&&r.s!==void 0;for(var s in t)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var o=2&this.__$f;if(!(a||o||4&this.__$f)||1&this.__$f)return!0}else if(!(a||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var c in this.props)if(!(c in e))return!0;return!1};function to(e,t){return zt(function(){return V(e,t)},[])}var no=function(e){queueMicrotask(function(){queueMicrotask(e)})};function ro(){qn(function(){for(var e;e=na.shift();)ta.call(e)})}function aa(){na.push(this)===1&&(L.requestAnimationFrame||no)(ro)}var sa=new URL("../",document.baseURI),Ye=document.querySelector('meta[name="timerbus"]'),ve={version:Ye?.content??"",readOnly:Ye?.dataset.readOnly==="true",hidePayloads:Ye?.
dataset.hidePayloads==="true",signIn:{issuer:Ye?.dataset.issuer??"",audience:Ye?.dataset.audience??"",clientID:Ye?.dataset.clientId??"",scopes:Ye?.dataset.scopes??
""}},me=class extends Error{constructor(r,a,s,o=0){super(s);this.status=r;this.code=a;this.retryAfter=o}status;code;retryAfter};function se(e){return e instanceof
me?e:new me(0,"UNEXPECTED",String(e))}var zn="timerbus-token",De=V(sessionStorage.getItem(zn)??""),Ce=V(null),He=V(null);function ct(e){De.value=e,e?sessionStorage.
setItem(zn,e):sessionStorage.removeItem(zn)}var Xt=V(0);async function Kn(e,t){let r=new Headers(t.headers);De.value&&r.set("Authorization",`Bearer ${De.value}`);
let a;try{a=await fetch(new URL(e,sa),{...t,headers:r,cache:"no-store"})}catch(o){throw t.signal?.aborted?o:new me(0,"UNREACHABLE","The service cannot be reache\
d: it may be stopped, or the network is down.")}let s=Date.parse(a.headers.get("Date")??"");if(!Number.isNaN(s)){let o=s+500-Date.now();Xt.value=Math.abs(o)>2e3?
o:0}return a}async function Vn(e){let{status:t,statusText:r}=e,a=await e.json().catch(()=>null),s=Number(e.headers.get("Retry-After"))*1e3||0;return new me(t,String(
a?.error??`HTTP_${t}`),String(a?.message??`The server answered ${t} ${r}.`),s)}function oa(e){let{rawJSON:t}=JSON;return t?JSON.parse(e,(a,s,o)=>typeof s=="numb\
er"&&o?.source!==void 0&&o.source.length>15?t(o.source):s):JSON.parse(e)}function Rt(e){if(!e.trim())return{};try{return{value:oa(e)}}catch(t){return{error:`The\
 payload is not JSON: ${t.message}`}}}var Qe;function ia(e,t,r){Qe={path:e,body:JSON.stringify(t),answer:en(e,t)},Qe.answer.catch(()=>{}),r(),Qe=void 0}async function en(e,t,r,a={}){
if(Qe?.path===e&&Qe.body===JSON.stringify(t)){let{answer:o}=Qe;return Qe=void 0,o}let s=await Kn("api/v1/"+e,{method:"POST",body:JSON.stringify(t),headers:{"Con\
tent-Type":"application/json",...a},signal:r??null});if(!s.ok){let o=await Vn(s);throw o.status===401&&!r?.aborted&&(He.value=o.message),o}return s}async function je(e,t,r){
let a=await en(e,t,r),s=await a.text();return{data:s?oa(s):void 0,late:a.status===202}}async function I(e,t,r){return(await je(e,t,r)).data}async function ca(e){
let t=await Kn("readyz",{signal:e}),r=await t.clone().json().catch(()=>null);if(r&&(t.ok?typeof r.status=="string":t.status===503&&r.reasons?.length))return r;throw await Vn(
t)}async function tn(e){let t=await Kn("metrics",{signal:e});if(!t.ok)throw await Vn(t);return t.text()}async function Pt(){let e=await I("caller/get",{});Ce.value=
e,He.value=null}function ao(e,t){let r=e.split("*").map(a=>a.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(t)}function ua(e,t){
return Ce.value?.grants.some(r=>r.verbs.includes(e)&&r.namespaces.some(t))??!1}function ue(e,t){return(e==="read"||!ve.readOnly)&&ua(e,r=>ao(r,t))}function ut(e){
return(e==="read"||!ve.readOnly)&&ua(e,t=>t==="*")}var la=sa.href.replace(/\/$/,"");function da(e){let[t="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:t.split("/").filter(Boolean).map(s=>{try{return decodeURIComponent(s)}catch{return s}}),
query:new URLSearchParams(r)}}var oe=V(da(location.hash));addEventListener("hashchange",()=>{oe.value=da(location.hash)});function R(e,t={}){let r=Object.entries(
{ns:S.value,...t}).filter(([,a])=>a);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function de(e,t={}){location.hash=R(e,t)}function we(e){
let t=Object.fromEntries(oe.value.query);delete t.cursor,de(oe.value.path,{...t,...e})}var pa="timerbus-namespace",S=Ge(()=>oe.value.query.get("ns")||localStorage.
getItem(pa)||"default");be(()=>{localStorage.setItem(pa,S.value)});var nn=V([]),Zn=V(!1);async function rn(e){let t=[],r;for(;;){let a=await I("namespaces/list",
{limit:200,cursor:r},e);if(t=t.concat(a.namespaces),r=a.nextCursor,!r||t.length>=1e3)break}return e.aborted||(nn.value=t,Zn.value=r!==void 0),t}function an(e,t){
let r=V(localStorage.getItem(e)??t);return be(()=>{localStorage.setItem(e,r.value)}),r}var Se=an("timerbus-zone","local"),Fe=an("timerbus-theme","auto"),Ae=an("\
timerbus-live","on"),sn=an("timerbus-shortcuts","on");be(()=>{Fe.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=
Fe.value});var Le=V(null),fa=V(Date.now());setInterval(()=>{document.hidden||(fa.value=Date.now())},1e3);var ha=Ge(()=>fa.value+Xt.value),Et=()=>Date.now()+Xt.value,
lt=V([]),so=1;function ke(e,t="ok"){let r=so++;lt.value=[...lt.value,{id:r,text:e,kind:t}],t==="ok"&&setTimeout(()=>{Gn(r)},1e4)}function Gn(e){lt.value=lt.value.
filter(t=>t.id!==e)}var Yn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,ma=new Map;function oo(){return Se.value==="utc"?"UTC":Se.value==="schedule"&&Le.value?Le.value:"loc\
al"}var $t=e=>String(e).padStart(2,"0");function ge(e,t=oo()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(t){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${$t(r.getMonth()+1)}-${$t(r.getDate())} ${$t(r.getHours())}:${$t(r.getMinutes())}\
:${$t(r.getSeconds())}`;default:{let a=ma.get(t);return a||(a=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:t}),ma.set(t,a)),a.
format(r)}}}function ga(e){return ge(e).slice(11,16)}function Je(e){let t=Math.abs(e);if(t<1)return t===0?"0 ms":"< 1 ms";if(t<1e3)return`${Math.round(t)} ms`;let r=t/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}var Xe=e=>e===
void 0?"\u2013":Je(e*1e3);function ya(e,t){let r=(typeof e=="number"?e:Date.parse(e))-t,a=Math.abs(r);if(a<500)return"now";let s=a<12e4?`${Math.round(a/1e3)} s`:
Je(a);return r>0?`in ${s}`:`${s} ago`}var E=e=>String(Number(e.toFixed(3))).replace(/(?<!\.\d*)\B(?=(\d{3})+(?!\d))/g,",");function le(e,t){return`${E(e)} ${t}${e===
1?"":"s"}`}var io={ns:1e-6,us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Qn(e){let t=0;for(let[,r="0",a="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))
t+=Number(r)*(io[a]??0);return t}function ne(e){if(!e)return"";let[,t]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return t&&Number(t)>24&&Number(t)%24===0?`${Number(t)/24}\
d`:e.replace(/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function on(e){return[e.rate&&`${E(e.rate.count)} per ${ne(e.rate.per)}`,e.concurrency&&`${E(e.concurrency)}\
 at a time`].filter(Boolean).join(", ")}var Ee=()=>Se.value==="utc"?"UTC":"local";function qe(e){return e?ge(e,Se.value==="utc"?"UTC":"local").replace(" ","T"):
""}function ye(e){if(!e)return;let t=new Date(Se.value==="utc"?`${e}Z`:e);return Number.isNaN(t.getTime())?void 0:t.toISOString()}function cn(e){let[,t]=/^[^/?#]*\/\/([^/?#]*)/.
exec(e)??[];return t===void 0?e:t.slice(t.lastIndexOf("@")+1).toLowerCase()}function un(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}\
'`}var co=Symbol.for("pv"),uo=0;function n(e,t,r,a,s,o){t||(t={});var i,c,d=t;if("ref"in d&&typeof e!="function")for(c in d={},t)c=="ref"?i=t[c]:d[c]=t[c];var u={type:e,props:d,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:co,__v:--uo,__i:-1,__u:0};return(s||o)&&(u.__source=s,u.__self=o),L.vnode&&L.vnode(u),u}var _a=!1;function Z({title:e,crumb:t,actions:r,children:a}){let s=K(null);return te(()=>{document.title=`${e} \xB7 Timerbus`},[e]),te(()=>{_a&&(s.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),_a=!0},[]),n(v,{children:[n("div",{class:"page-head",children:[n("div",{class:"page-title",children:[t&&n("div",{class:"crumb",
children:t}),n("h1",{tabIndex:-1,ref:s,children:e})]}),r&&n("div",{class:"actions",children:r})]}),a]})}function O({title:e,aside:t,children:r,wide:a,flush:s}){
let o=xt();return n("section",{class:`card${a?" wide":""}${s?" flush":""}`,"aria-labelledby":e?o:void 0,children:[e&&n("div",{class:"card-head",children:[n("h2",
{id:o,children:e}),t]}),r]})}function ie({kind:e,children:t}){return n("span",{class:`badge ${e}`,children:t})}var Ie=({status:e})=>n(ie,{kind:e,children:e});function B({
at:e,only:t}){if(!e)return n("span",{class:"muted",children:"\u2013"});let r=ge(e);if(t==="absolute")return n("time",{dateTime:e,title:e,children:r});let a=ya(e,
ha.value);return t==="relative"?n("time",{dateTime:e,title:r,children:a}):n("time",{dateTime:e,title:e,class:"time",children:[n("span",{children:r})," ",n("span",
{class:"muted",children:a})]})}function x({kind:e="",...t}){return n("button",{type:"button",...t,class:`button ${e}`})}function Xn({text:e,label:t="Copy"}){let[
r,a]=m(!1);te(()=>{if(!r)return;let o=setTimeout(()=>{a(!1)},2e3);return()=>{clearTimeout(o)}},[r]);let s=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let o=document.createElement("textarea");o.value=e,document.body.append(o),o.select();let i=document.execCommand("copy");if(o.remove(),!i)return}a(!0)};return n(
x,{kind:"small",onClick:()=>{s()},children:r?"Copied":t})}function Ot({text:e,label:t}){return n("div",{class:"command",children:[n("pre",{tabIndex:0,"aria-labe\
l":t,children:n("code",{children:e})}),n(Xn,{text:e})]})}function J({title:e,children:t,command:r}){return n("div",{class:"empty",children:[n("p",{class:"empty-\
title",children:e}),t&&n("p",{class:"muted",children:t}),r&&n(Ot,{text:r,label:"Command"})]})}var lo={UNREACHABLE:"Not reachable",INCOMPLETE:"Not sent",401:"Not\
 signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",429:"Too many requests",503:"Not available",504:"Outcome unknown"};function _e({error:e,
again:t}){return n("div",{class:"error",role:"alert",children:[n("div",{children:[n("strong",{children:lo[e.status||e.code]??"Failed"})," ",n("code",{children:[
e.status||""," ",e.code]}),n("p",{children:e.message})]}),t&&n(x,{kind:"small",onClick:t,children:"Try again"})]})}function W({of:e,children:t}){return n(v,{children:[
e.error&&n(_e,{error:e.error,again:e.again}),e.data!==void 0?t(e.data):e.loading&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"\
Loading"})})]})}function et({title:e,close:t,children:r}){let a=K(null),s=xt();return te(()=>{let o=a.current,i=document.activeElement;return o?.showModal(),()=>{
o?.close(),i?.focus()}},[]),n("dialog",{ref:a,"aria-labelledby":s,onCancel:o=>{o.preventDefault(),t()},children:[n("div",{class:"dialog-head",children:[n("h2",{
id:s,children:e}),n(x,{kind:"icon","aria-label":"Close",onClick:t,children:"\u2715"})]}),r]})}function ba({label:e,hint:t,children:r,error:a}){let s=xt(),o=t||a?
`${s}-hint`:void 0;return n("div",{class:"field",children:[n("label",{for:s,children:e}),r(s,o),(t||a)&&n("p",{id:o,class:a?"hint bad":"hint",children:a??t})]})}
function N({label:e,value:t,set:r,hint:a,error:s,type:o="text",placeholder:i,required:c,mono:d,step:u}){return n(ba,{label:e,hint:a,error:s,children:(l,f)=>n("i\
nput",{id:l,type:o,value:t,placeholder:i,required:c,step:u,spellcheck:!1,autocomplete:"off",class:d?"mono":"","aria-describedby":f,"aria-invalid":s?!0:void 0,onInput:h=>{
r(h.currentTarget.value)}})})}function Nt({label:e,value:t,set:r,hint:a,error:s,rows:o=5}){return n(ba,{label:e,hint:a,error:s,children:(i,c)=>n("textarea",{id:i,
rows:o,value:t,class:"mono",spellcheck:!1,"aria-describedby":c,"aria-invalid":s?!0:void 0,onInput:d=>{r(d.currentTarget.value)}})})}function pe({label:e,value:t,
set:r,options:a,hint:s}){let o=xt();return n("div",{class:"field",children:[n("label",{for:o,children:e}),n("select",{id:o,value:t,onChange:i=>{r(i.currentTarget.
value)},children:a.map(([i,c])=>n("option",{value:i,selected:i===t,children:c},i))}),s&&n("p",{class:"hint",children:s})]})}function $e({of:e}){return n("dl",{class:"\
facts",children:e.filter(([,t])=>t!==void 0&&t!==""&&t!==null).map(([t,r])=>n("div",{children:[n("dt",{children:t}),n("dd",{children:r})]},t))})}function ce({caption:e,
head:t,children:r,stack:a}){return n("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:n("table",{class:a?"stack":"",children:[n("captio\
n",{class:"sr",children:e}),n("thead",{children:n("tr",{children:t.map((s,o)=>n("th",{scope:"col",children:s},o))})}),n("tbody",{children:r})]})})}function dt({
value:e,label:t}){return n(Ot,{text:typeof e=="string"?e:JSON.stringify(e,null,2),label:t})}function ln({of:e}){return e&&n("div",{class:"callout",children:["Pa\
used",e.by&&` by ${e.by}`," ",n(B,{at:e.at}),e.note&&`: ${e.note}`]})}function va({bars:e,label:t,every:r}){let a=po(Math.max(1,...e.map(i=>i.value))),s=1e3/Math.
max(1,e.length),o=i=>100*(1-i/a);return n(v,{children:[n("div",{class:"chart",role:"img","aria-label":t,children:[n("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"\
none","aria-hidden":"true",children:[[0,a/2,a].map(i=>n("line",{x1:"0",x2:"1000",y1:o(i),y2:o(i)},i)),e.map((i,c)=>i.value>0&&n("rect",{x:c*s+s*.08,width:s*.84,
y:Math.min(o(i.value),99),height:Math.max(1,100-o(i.value)),children:n("title",{children:i.title})},c))]}),[0,a/2,a].map(i=>n("span",{class:"y","aria-hidden":"t\
rue",style:{top:`${o(i)}%`},children:dn(i)},i)),e.map((i,c)=>c%r===0&&n("span",{class:"x","aria-hidden":"true",style:{left:`${c*s/10}%`},children:i.label},c))]}),
n("details",{class:"as-table",children:[n("summary",{children:"As a table"}),n(ce,{caption:t,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>n("tr",
{children:[n("td",{children:i.label}),n("td",{class:"num",children:i.value})]},i.label+i.title))})]})]})}function po(e){let t=10**Math.floor(Math.log10(e));for(let r of[
1,1.2,1.6,2,3,4,5,6,8,10])if(r*t>=e)return Math.max(2,r*t);return e}function dn(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(
+e.toFixed(1))}function fo({values:e}){if(e.length<2)return n("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let t=Math.max(...e,1e-9),r=e.map(
(a,s)=>`${(s/(e.length-1)*100).toFixed(1)},${(22-a/t*20).toFixed(1)}`);return n("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidde\
n":"true",children:[n("polygon",{points:`0,24 ${r.join(" ")} 100,24`,class:"area"}),n("polyline",{points:r.join(" "),class:"line"})]})}function re({label:e,value:t,
hint:r,kind:a="",spark:s,href:o}){let i=n(v,{children:[n("span",{class:"tile-label",children:e}),n("span",{class:"tile-value",children:t}),n("span",{class:"tile\
-hint",children:r}),s&&n(fo,{values:s})]});return o?n("a",{class:`tile ${a}`,href:o,children:i}):n("div",{class:`tile ${a}`,children:i})}function pt(){let e=K(!1);return te(()=>()=>{e.current=!0},[]),e}function fe({title:e,children:t,verb:r,danger:a,path:s,body:o,done:i,close:c,after:d}){let[u,l]=m(),
[f,h]=m(!1),p=pt(),y=async()=>{let k=o();if(typeof k=="string"){l(new me(0,"INCOMPLETE",k));return}h(!0);try{let{late:_}=await je(s,k);if(ke(_?`${i} An earlier \
delivery may have been sent.`:i,_?"warn":"ok"),p.current)return;c(),d()}catch(_){let w=se(_);p.current&&ke(`${e}: ${w.message}`,"warn"),l(w),h(!1)}};return n(et,
{title:e,close:c,children:n("form",{onSubmit:k=>{k.preventDefault(),y()},children:[t,u&&n(_e,{error:u}),u&&/^(GENERATION|VERSION)_CONFLICT$/.test(u.code)&&n("p",
{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present state."}),n("div",{class:"dialog-foot",children:[n(x,{onClick:c,
children:"Cancel"}),n("button",{type:"submit",class:`button ${a?"danger":"primary"}`,disabled:f,children:f?"Sending\u2026":r})]})]})})}var wa=250;function pn(e,t){
return async(r,a)=>{let s=0,o=0;for(let i;;){let{data:c}=await je(e,{...t,dryRun:!0,limit:wa,cursor:i},r);if(a(s+=c.applied),o+=c.skipped,i=c.nextCursor,!i)return{
n:s,more:!1,skipped:o}}}}async function tt(e,t,r,a=()=>{}){let s=0,o=!1;for(let i of t){if(!e.correlationId){let d=await I("timers/count",{...e,status:i},r);s+=
d.count,o||=d.truncated;continue}let c;do{let d=await I("timers/list",{...e,status:i,limit:1e3,cursor:c},r);a(s+=d.timers.length),c=d.nextCursor}while(c)}return{
n:s,more:o}}function ft({action:e,close:t,after:r}){let[a,s]=m("ask"),[o,i]=m(),[c,d]=m(0),[u,l]=m({matched:0,applied:0,late:0,skipped:0,pages:0}),[f,h]=m(),p=K(
new AbortController),y=K(void 0),k=K(!1),_=pt();te(()=>()=>{k.current=!0,p.current.abort()},[]);let w=async()=>{s("counting"),h(void 0),p.current=new AbortController;
try{i(await e.count(p.current.signal,d)),s("counted")}catch($){if(p.current.signal.aborted)return;h(se($)),s("ask")}},b=async()=>{s("running"),h(void 0),k.current=
!1;let $=u;try{do{let{data:M}=await je(e.path,{...e.filter,limit:wa,cursor:y.current});y.current=M.nextCursor,$={matched:$.matched+M.matched,applied:$.applied+M.
applied,late:$.late+(M.late??0),skipped:$.skipped+M.skipped,pages:$.pages+1},l($)}while(y.current&&!k.current);s(y.current?"cancelled":"ended"),_.current&&ke(`${e.
title}: ${y.current?"stopped, ":""}${g($)}.`,y.current?"warn":"ok")}catch(M){h(se(M)),s("failed"),_.current&&ke(`${e.title}: failed, ${g($)}: ${se(M).message}`,
"warn")}r()},T=o&&!o.more?o.n+(o.skipped??0):void 0,g=$=>`${le($.applied,"timer")} ${e.done}`+($.late?` (an earlier delivery of ${E($.late)} may have been sent)`:
"")+($.skipped?`, ${E($.skipped)} skipped`:"");return n(et,{title:e.title,close:t,children:[n("p",{children:e.describe}),a==="counting"&&n("p",{role:"status",children:[
"Counting\u2026 ",c>0&&E(c)]}),a==="counted"&&o&&n("p",{role:"status",class:"callout",children:["Dry run: ",o.more?"at least ":"",le(o.n,"timer")," would be ",e.
done,o.skipped?`, ${E(o.skipped)} would be skipped, because they were retried before`:"",". Nothing was changed."]}),u.pages>0&&n("div",{class:"progress-wrap",children:[
(a==="running"||T!==void 0)&&n("progress",{max:T||1,value:T===void 0?void 0:o?.skipped===void 0?u.applied:u.matched,"aria-label":"Progress"}),n("p",{role:"statu\
s",children:[a==="running"?"Working: ":a==="ended"?"Finished: ":a==="cancelled"?"Cancelled: ":"Stopped: ",g(u),a==="cancelled"&&". The others were not changed."]})]}),
f&&n(_e,{error:f}),n("div",{class:"dialog-foot",children:[a==="running"?n(x,{kind:"danger",onClick:()=>{k.current=!0},children:"Cancel"}):n(x,{onClick:t,children:"\
Close"}),(a==="ask"||a==="counted")&&n(x,{onClick:()=>{w()},children:"Dry run"}),(a==="ask"||a==="counted")&&n(x,{kind:e.danger?"danger":"primary",onClick:()=>{
b()},children:[e.verb," ",o?o.more?"all":E(o.n):"all"]}),(a==="cancelled"||a==="failed")&&n(x,{kind:"primary",onClick:()=>{b()},children:"Continue"})]})]})}function ho(e){let t=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let a=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!a)continue;let s={};for(let[,o="",i=""]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
s[o]=i.replace(/\\(.)/g,(c,d)=>d==="n"?`
`:d);t.push({name:a[1].slice(9),labels:s,value:Number(a[3].replace("Inf","Infinity"))})}return t}var ht=class{at=performance.now();byName=new Map;constructor(t){
for(let r of ho(t)){let a=this.byName.get(r.name);a?a.push(r):this.byName.set(r.name,[r])}}sum(t,r={}){let a=this.byName.get(t)?.filter(s=>Object.entries(r).every(
([o,i])=>s.labels[o]===i));return a?.length?a.reduce((s,o)=>s+o.value,0):void 0}by(t,r,a={}){let s=new Map;for(let o of this.byName.get(t)??[]){if(!Object.entries(
a).every(([c,d])=>o.labels[c]===d))continue;let i=o.labels[r]??"";s.set(i,(s.get(i)??0)+o.value)}return s}quantile(t,r,a,s={}){if(!a)return;let o=a.by(`${r}_buc\
ket`,"le",s),i=[...this.by(`${r}_bucket`,"le",s)].map(([f,h])=>[f==="+Inf"?1/0:Number(f),h-(o.get(f)??0)]).sort((f,h)=>f[0]-h[0]),c=i.at(-1)?.[1]??0;if(c<=0)return;
let d=t*c,u=0,l=0;for(let[f,h]of i){if(h>=d)return f===1/0?u:u+(f-u)*(h===l?1:(d-l)/(h-l));u=f,l=h}return u}},ka=6e4,mt=class{constructor(t){this.counter=t}counter;scrapes=[];add(t){
let r=t.sum(this.counter)??0;for(this.scrapes=this.scrapes.filter(a=>t.at-a.at<=2*ka&&(a.sum(this.counter)??0)<=r),this.scrapes.push(t);this.scrapes.length>2&&t.
at-this.scrapes[1].at>ka;)this.scrapes.shift();return this.scrapes.length>1?this.scrapes[0]:void 0}};var Dt=e=>e.timerId!==void 0,mn=e=>Dt(e)&&(e.type==="dead"||e.type==="purged"),er=new Set;function Ca(e){return er.add(e),()=>{er.delete(e)}}function hn(e){for(let t of er)
t(e)}var Ue=V("no"),mo=250,xa=1e3,Sa=6e4,go=45e3,yo=1e4,fn={namespace:"",id:""};async function*_o(e){let t=e.getReader(),r=new TextDecoder,a=()=>{t.cancel().catch(
()=>{})},s="",o={name:"",data:"",id:""},i=0;try{for(;;){i=window.setTimeout(a,go);let{done:c,value:d}=await t.read();if(clearTimeout(i),c)return;let u=(s+r.decode(
d,{stream:!0})).split(`
`);s=u.pop()??"";for(let l of u)l===""?(yield o,o={name:"",data:"",id:""}):l.startsWith("event: ")?o.name=l.slice(7):l.startsWith("data: ")?o.data=l.slice(6):l.
startsWith("id: ")&&(o.id=l.slice(4))}}finally{clearTimeout(i),a()}}async function bo(e,t){let r=fn.namespace===e&&fn.id!=="",a=new AbortController,s=setTimeout(
()=>{a.abort()},yo),o=await en("events/stream",{namespace:e},AbortSignal.any([t,a.signal]),r?{"Last-Event-ID":fn.id}:{}).finally(()=>{clearTimeout(s)});if(o.body)
for await(let{name:i,data:c,id:d}of _o(o.body)){if(t.aborted)return;d&&(fn={namespace:e,id:d}),i==="open"?(Ue.value=JSON.parse(c).complete?"all":"some",r||hn()):
i==="reset"?hn():i==="change"&&hn(JSON.parse(c))}}async function vo(e,t){await Ta(mo,t);for(let r=0;!t.aborted;){let a=xa;try{await bo(e,t),r=0}catch(s){if(t.aborted)
return;let o=se(s);if(r=Ue.value==="no"?r+1:0,a=Math.max(o.retryAfter,Math.min(Sa,xa*2**r)),o.status===403||o.status===404)a=Sa;else if(o.status>=400&&o.status<
500&&o.status!==429)return}if(t.aborted)return;wo(),await Ta(a*(1+Math.random()),t)}}function Ta(e,t){return new Promise(r=>{let a=setTimeout(r,e);t.addEventListener(
"abort",()=>{clearTimeout(a),r()},{once:!0})})}function wo(){Ue.value!=="no"&&(Ue.value="no",hn())}var Aa=V(!document.hidden);document.addEventListener("visibil\
itychange",()=>{Aa.value=!document.hidden});be(()=>{let e=S.value;if(Ae.value!=="on"||!Aa.value||He.value!==null||!Ce.value||!ue("read",e))return;let t=new AbortController;
return vo(e,t.signal),()=>{t.abort(),Ue.value="no"}});var ko=6e4,xo=2e4,So=3e3,To=100;function j(e,t,r,a=!1,s){let[o,i]=m({key:""}),[c,d]=m(0),u=K(r);u.current=r;let l=K(s);l.current=s,Wt(()=>{if(e==="")return;let h=new AbortController,
p=0,y=0,k=!1,_=0,w=0,b=!1,T=()=>{clearTimeout(p),Ae.value==="on"&&(p=window.setTimeout(()=>{g()},Math.max(0,_-performance.now())))},g=async()=>{if(k||h.signal.aborted||
document.hidden&&p!==0)return;k=!0,b=!1;let Q=0,q=performance.now();try{let U=await u.current(h.signal);if(h.signal.aborted)return;y=0,i({key:e,data:U})}catch(U){
if(h.signal.aborted)return;y++;let D=se(U);if(Q=Math.max(D.retryAfter,Math.min(ko,t*2**y)),i(F=>F.key===e&&F.data!==void 0?{key:e,data:F.data,error:D}:{key:e,error:D}),
D.status>=400&&D.status<500&&D.status!==429)return}finally{k=!1;let U=a?To*(performance.now()-q):0,D=l.current&&Ue.value==="all"&&Q===0?Math.max(t,xo):t;w=performance.
now()+Math.max(U,Math.min(t,So),Q),_=b?w:performance.now()+Math.max(U,D,Q)}T()},$=()=>{document.hidden||k||(a||(_=0),T())},M=Q=>{!l.current||Q&&!l.current(Q)||(b=
!0,!(k||document.hidden)&&(_=Math.min(_,w),T()))};document.addEventListener("visibilitychange",$);let he=Ca(M);g();let G=Ae.subscribe($);return()=>{h.abort(),clearTimeout(
p),G(),he(),document.removeEventListener("visibilitychange",$)}},[e,t,c]);let f=o.key===e?o:{key:e};return{data:f.data,error:f.error,loading:e!==""&&f.data===void 0&&
f.error===void 0,again:()=>{d(h=>h+1)}}}var Ra=60;function Co(){let e=K(new mt("dispatcher_fires_total")),t=K({fires:[],lateness:[]}),r=ut("read"),a=j(r?"metrics":"",3e3,async u=>{let l=new ht(await tn(
u)),f=e.current.add(l),h=l.sum("dispatcher_fires_total"),p=l.sum("timers_pending"),y=f&&h!==void 0?1e3*Math.max(0,h-(f.sum("dispatcher_fires_total")??0))/(l.at-
f.at):void 0,k=w=>l.quantile(w,"dispatcher_lateness_seconds",f),_={lateness50:k(.5),lateness99:k(.99),fires:y,pending:p,overdue:l.sum("timers_overdue"),dead:l.sum(
"timers_dead"),held:p===void 0?void 0:(l.sum("timers_paused")??0)+(l.sum("timers_parked")??0),oldest:l.sum("timers_oldest_overdue_seconds"),whole:p!==void 0,local:h!==
void 0};return y!==void 0&&(t.current.fires=[...t.current.fires,y].slice(-Ra)),_.lateness99!==void 0&&(t.current.lateness=[...t.current.lateness,_.lateness99].slice(
-Ra)),_}),s=!r||a.data?.whole===!1,o=j(s?`counts/${S.value}`:"",3e4,Ao,!0),i=r?a:{...o,data:o.data&&{...o.data,whole:!1,local:!1}},c=i.data&&{...i.data,...o.data},
d=()=>{a.again(),o.again()};return{poll:{...i,data:c,error:i.error??o.error,again:d},series:t.current,everywhere:r}}async function Ao(e){let t=!1,r=S.value,a=async(u,l)=>{
let{n:f,more:h}=await tt({namespace:r,dueBefore:l},u,e);return t||=h,f},s=new Date(Et()).toISOString(),[o,i,c,d]=await Promise.all([a(["scheduled","retrying"]),
a(["scheduled","retrying"],s),a(["dead"]),a(["paused","parked"])]);return{pending:o,overdue:i,dead:c,held:d,least:t}}var gn=(e,t)=>t===void 0?"\u2013":n(v,{children:[
e.least&&n("small",{children:"at least "}),dn(t)]});function Ro({of:e}){let t=e.reasons??[],r=e.degraded??[],a=t.length?"dead":r.length?"retrying":"done";return n(
"div",{class:`health ${a}`,role:"status",children:[n(ie,{kind:a,children:t.length?"not ready":r.length?"degraded":"healthy"}),t.length===0&&r.length===0&&n("spa\
n",{children:"Requests are served, and all parts work."}),n("ul",{children:[t.map(s=>n("li",{children:s},s)),r.map(s=>n("li",{children:[n("strong",{children:s.part}),
": ",s.reason,", ",n(B,{at:s.since})]},s.part))]})]})}var tr=[["24h","24 hours",24,30],["1h","1 hour",1,1],["7d","7 days",168,240]];function Po(){let[e,t]=m("24\
h"),[,r,a,s]=tr.find(([c])=>c===e)??tr[0],o=j(`forecast/${S.value}/${e}`,6e4,c=>{let d=s*6e4,u=Math.floor(Et()/d)*d;return I("timers/forecast",{namespace:S.value,
from:new Date(u).toISOString(),to:new Date(u+a*36e5).toISOString(),bucket:`${s}m`},c)},!0),i=n("div",{class:"segments",role:"group","aria-label":"Range of the f\
orecast",children:tr.map(([c,d])=>n("button",{type:"button","aria-pressed":e===c,onClick:()=>{t(c)},children:d},c))});return n(O,{title:"Forecast",aside:i,wide:!0,
children:n(W,{of:o,children:c=>{let d=Date.parse(c.from),u=c.counts.reduce((f,h)=>f+h,0),l=c.counts.map((f,h)=>{let p=d+h*s*6e4;return{label:a>24?ge(p).slice(5,
16):ga(p),value:f,title:`${ge(p)}: ${le(f,"timer")}`}});return n(v,{children:[n("p",{class:"muted",children:[le(u,"timer")," of ",S.value," due in the next ",r,
c.truncated&&`, counted until ${ge(c.completeBefore)}`]}),u===0?n(J,{title:"Nothing is due in this time.",command:`timerbus timer create hello --in 1h -n ${S.value}`,
children:"Create a timer:"}):n(va,{bars:l,every:Math.ceil(l.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}, for each ${s} minutes: ${u} in all`})]})}})})}
function yn(e){return e.callbackUrl?cn(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Eo(){let e=j(`next/${S.value}`,3e3,t=>I("timers/list",{namespace:S.
value,order:"due",limit:8},t),!1,Dt);return n(O,{title:"Due next",aside:n("a",{href:R(["timers"]),children:"All timers"}),flush:!0,children:n(W,{of:e,children:({
timers:t})=>t.length===0?n(J,{title:"No timer waits.",command:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${S.value}`,children:"\
Create one, here or with the CLI:"}):n(ce,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:t.map(r=>n("tr",{children:[n("td",
{children:n(B,{at:r.dueAt,only:"relative"})}),n("td",{class:"id",children:n("a",{href:R(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:yn(r)}),
n("td",{children:n(Ie,{status:r.status})})]},r.uuid))})})})}function $o(){let e=j(`failed/${S.value}`,1e4,t=>I("timers/list",{namespace:S.value,status:"dead",limit:8},
t),!1,mn);return n(O,{title:"Dead letters",aside:n("a",{href:R(["dead"]),children:"By reason"}),flush:!0,children:n(W,{of:e,children:({timers:t})=>t.length===0?
n(J,{title:"No timer is dead.",children:"Timers whose retry policy has ended appear here."}):n(ce,{caption:"Some dead timers",head:["Timer","Target","Error"],children:t.
map(r=>n("tr",{children:[n("td",{class:"id",children:n("a",{href:R(["timers",r.id]),children:r.id})}),n("td",{class:"clip",children:yn(r)}),n("td",{class:"clip",
title:r.lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function Pa(){let e=j("health",5e3,ca),{poll:t,series:r,everywhere:a}=Co(),s=t.data,o=s&&
!s.whole?`namespace ${S.value}`:"cluster";return n(Z,{title:"Overview",children:[n(W,{of:e.error?{...e,data:void 0}:e,children:i=>n(Ro,{of:i})}),n(W,{of:t,children:i=>n(
v,{children:[n("div",{class:"tiles",children:[n(re,{label:"Lateness p50",value:Xe(i.lateness50),hint:"start of the attempt",kind:i.lateness50!==void 0&&i.lateness50>
5?"warn":""}),n(re,{label:"Lateness p99",value:Xe(i.lateness99),hint:"last minute",kind:i.lateness99!==void 0&&i.lateness99>10?"warn":"",spark:r.lateness}),n(re,
{label:"Fires",value:i.fires===void 0?"\u2013":`${dn(i.fires)}/s`,hint:"last minute",spark:r.fires}),n(re,{label:"Pending",value:gn(i,i.pending),hint:(i.pending??
0)<1e3?"scheduled, retrying":E(i.pending??0),href:R(["timers"])}),n(re,{label:"Backlog",value:gn(i,i.overdue),hint:i.oldest?`oldest ${Xe(i.oldest)}`:"overdue ti\
mers",kind:(i.oldest??0)>10?"warn":""}),n(re,{label:"Dead",value:gn(i,i.dead),hint:i.whole?"can be retried":"in the history",kind:i.dead?"bad":"",href:R(["dead"])}),
n(re,{label:"Paused, parked",value:gn(i,i.held),hint:o,href:R(["timers"],{status:"paused"})})]}),!i.local&&n("p",{class:"callout",children:a?n(v,{children:["Thi\
s process delivers no timers, so it has no lateness and fires. Dispatchers export them at ",n("code",{children:"/metrics"}),"; the Grafana dashboard shows all p\
rocesses."]}):n(v,{children:"Lateness and fires need the right to read all namespaces."})})]})}),n("div",{class:"grid",children:[n(Po,{}),n(Eo,{}),n($o,{})]})]})}var Oo=50,No=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];function nr({timers:e,caption:t}){return n(ce,{caption:t,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(
r=>n("tr",{children:[n("td",{class:"id","data-label":"Timer",children:n("a",{href:R(["timers",r.id]),children:r.id})}),n("td",{"data-label":"Status",children:n(
Ie,{status:r.status})}),n("td",{"data-label":"Due",children:n(B,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),n("td",{class:"clip","data-labe\
l":"Target",title:r.callbackUrl??r.topic,children:yn(r)}),n("td",{class:"num","data-label":"Attempts",children:r.attempts}),n("td",{class:"clip","data-label":"L\
ast error",title:r.lastError,children:r.lastError??n("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function Ea(){let e=oe.value.query,t=e.
get("status")??"",r=e.get("correlationId")??"",a=e.get("dueFrom")??"",s=e.get("dueBefore")??"",o=e.get("cursor")??"",i=(t===""||t==="scheduled"||t==="retrying")&&
!r,c={namespace:S.value,status:t||void 0,correlationId:r||void 0,dueFrom:a||void 0,dueBefore:s||void 0},d={...c,order:i?"due":"key",limit:Oo,cursor:o||void 0};return{
q:e,status:t,correlationId:r,dueFrom:a,dueBefore:s,cursor:o,ordered:i,filter:c,request:d}}var $a=()=>Ea().request;function Oa(){let{q:e,status:t,correlationId:r,
dueFrom:a,dueBefore:s,cursor:o,ordered:i,filter:c,request:d}=Ea(),[u,l]=m(""),[f,h]=m(null),p=j(JSON.stringify(d),o?1e4:3e3,g=>I("timers/list",d,g),!1,Dt),y=K(!1);
y.current||=!p.loading;let k=j(r||!y.current?"":JSON.stringify(c),3e4,g=>tt(c,[c.status],g),!0),_=ue("write",S.value),w=g=>{let $={pause:["Pause timers","Pause",
"paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:["Retry timers","Retry","started again"],purge:["Delete \
from history","Delete","removed from history"]},[M,he,G]=$[g],{status:Q,...q}=c,U=g==="resume"?q:c,D=`timers/${g}-matching`,F=g==="resume"?["paused"]:g==="pause"&&
!t?["scheduled","retrying"]:[c.status];h({title:M,verb:he,done:G,path:D,filter:U,danger:g==="delete"||g==="purge",describe:n(v,{children:["All timers of ",n("st\
rong",{children:S.value})," that this page\u2019s filter selects, not only those of the shown page."]}),count:g==="retry"||g==="purge"?pn(D,U):(P,C)=>tt(c,F,P,C)})},
b=!!(t||r||a||s),T=_&&n(v,{children:[(t===""||t==="scheduled"||t==="retrying")&&n(x,{onClick:()=>{w("pause")},children:"Pause all\u2026"}),(t===""||t==="paused")&&
n(x,{onClick:()=>{w("resume")},children:"Resume all\u2026"}),(t==="dead"||t==="parked")&&n(x,{onClick:()=>{w("retry")},children:"Retry all\u2026"}),(t==="dead"||
t==="done")&&n(x,{onClick:()=>{w("purge")},children:"Delete all\u2026"}),t!=="dead"&&t!=="done"&&b&&n(x,{onClick:()=>{w("delete")},children:"Delete all\u2026"}),
n("a",{class:"button primary",href:R(["new","timer"]),children:"Create timer"})]});return n(Z,{title:"Timers",actions:T,children:[n("form",{class:"filters",role:"\
search",onSubmit:g=>{g.preventDefault(),u.trim()&&de(["timers",u.trim()])},children:[n("div",{class:"field",children:[n("label",{for:"open",children:"Open by id"}),
n("div",{class:"joined",children:[n("input",{id:"open","data-search":!0,type:"search",value:u,placeholder:"order-1842",spellcheck:!1,onInput:g=>{l(g.currentTarget.
value)}}),n("button",{type:"submit",class:"button",children:"Open"})]})]}),n(pe,{label:"Status",value:t,options:No,set:g=>{we({status:g})}}),n(nt,{label:"Correl\
ation id",value:r,set:g=>{we({correlationId:g})}}),n(nt,{label:`Due from (${Ee()})`,type:"datetime-local",value:qe(a),set:g=>{we({dueFrom:ye(g)})}}),n(nt,{label:"\
Due before",type:"datetime-local",value:qe(s),set:g=>{we({dueBefore:ye(g)})}}),(b||o)&&n(x,{kind:"ghost",onClick:()=>{de(["timers"])},children:"Clear"})]}),n(O,
{flush:!0,wide:!0,children:n(W,{of:p,children:g=>n(v,{children:[g.timers.length===0?n(J,{title:b||o?"No timer matches.":"There are no timers in this namespace.",
command:b||o?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${S.value}`,children:b||o?g.nextCursor?"This page is empty; th\
e next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):n(nr,{timers:g.timers,caption:"Timers"}),n("div",{class:"\
pager",children:[n("span",{class:"muted",role:"status",children:[k.data&&`${k.data.more?"at least ":""}${E(k.data.n)} in all`,k.error&&`counting failed: ${k.error.
message}`,i?"the next due first":"in a fixed order"].filter(Boolean).join(", ")}),n("span",{class:"pager-buttons",children:[o&&n("a",{class:"button",href:R(["ti\
mers"],{...Object.fromEntries(e),cursor:void 0}),children:"First page"}),g.nextCursor&&n("a",{class:"button",href:R(["timers"],{...Object.fromEntries(e),cursor:g.
nextCursor}),children:"Next page"})]})]})]})})}),f&&n(ft,{action:f,close:()=>{h(null)},after:()=>{p.again(),k.again()}})]})}function nt({label:e,value:t,set:r,type:a}){
let[s,o]=m(t),[i,c]=m(t);i!==t&&(c(t),o(t));let d=()=>{s!==t&&r(s)};return n("div",{onFocusOut:d,onKeyDown:u=>{u.key==="Enter"&&(u.preventDefault(),d())},children:n(
N,{label:e,value:s,set:o,type:a,step:a?"1":void 0})})}var Do=5e3,Lo=500,Io=20,rr=100;function Uo(e,t){for(let r of t){let a=r.callbackUrl?cn(r.callbackUrl):"",s=r.lastError??"",o=`${a}\0${s}`,i=e.groups.get(o);i||(i=
{host:a,error:s,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,newest:r.executeAt},e.groups.set(o,i)),i.count++,i.timers.length<Io&&i.timers.push(
r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=r.executeAt)}e.read+=t.length}var ar=e=>e.host||"no URL";async function Na(e,t,r,a){
let s=e?{...e,groups:new Map([...e.groups].map(([i,c])=>[i,{...c,timers:[...c.timers]}]))}:{groups:new Map,read:0,cursor:void 0},o=s.read+Do;do{let i=await I("t\
imers/list",{...t,limit:Lo,cursor:s.cursor},r);Uo(s,i.timers),s.cursor=i.nextCursor,r.aborted||a({...s})}while(s.cursor&&s.read<o);return s}function Bo({of:e}){
let[t,r]=m(e.timers);return te(()=>{let a=new AbortController,s=o=>I("timers/get",{namespace:o.namespace,id:o.id},a.signal).then(i=>i.generation===o.generation?
o:{...o,status:i.status},()=>o);return Promise.all(e.timers.map(s)).then(o=>{a.signal.aborted||r(o)}),()=>{a.abort()}},[e.timers.map(a=>a.uuid+a.generation).join()]),
n(nr,{timers:t,caption:`Dead timers of ${ar(e)}`})}function Da(){let e=oe.value.query,t=e.get("correlationId")??"",r=e.get("dueFrom")??"",a=e.get("dueBefore")??
"",s=S.value,o={namespace:s,status:"dead",correlationId:t||void 0,dueFrom:r||void 0,dueBefore:a||void 0},i=JSON.stringify(o),[c,d]=m(),[u,l]=m(),f=u?.key===i?u:
void 0,[h,p]=m(),[y,k]=m(null),[_,w]=m(0),b=j(f?"":i,1e4,P=>Na(void 0,o,P,C=>{b.data||d({key:i,read:C})}),!0,mn),T=f?.read??b.data??(c?.key===i?c.read:void 0),g=f?.
busy??b.loading,$=f?f.error:b.error,M=K(new AbortController);te(()=>()=>{M.current.abort()},[i]);let he=async P=>{M.current=new AbortController;let{signal:C}=M.
current,Te=P;l({key:i,read:Te,busy:!0});try{Te=await Na(P,o,C,Oe=>{Te=Oe,l({key:i,read:Te,busy:!0})}),C.aborted||l({key:i,read:Te,busy:!1})}catch(Oe){C.aborted||
l({key:i,read:Te,busy:!1,error:se(Oe)})}},G=()=>{M.current.abort(),l(void 0),w(P=>P+1),b.again()},Q=(P,C)=>{let Te=C?{...o,callbackHost:C.host,lastError:C.error}:
o,Oe=`timers/${P}-matching`;k({title:P==="retry"?"Retry dead timers":"Delete dead timers",verb:P==="retry"?"Retry":"Delete",done:P==="retry"?"started again":"re\
moved from history",path:Oe,filter:Te,danger:P==="purge",describe:C?n(v,{children:["All dead timers of ",n("strong",{children:s})," that ",C.host?n(v,{children:[
"call ",n("strong",{children:C.host})]}):"have no URL"," and failed with ",n("q",{children:C.error}),"."]}):n(v,{children:["All dead timers of ",n("strong",{children:s}),
" that this page\u2019s filter selects, also those that were not read yet."]}),count:pn(Oe,Te)})},q=ue("write",s),U=T?[...T.groups].sort(([,P],[,C])=>C.count-P.
count):[],D=!!(t||r||a),F=q&&U.length>0&&n(v,{children:[n(x,{kind:"primary",onClick:()=>{Q("retry")},children:"Retry all\u2026"}),n(x,{kind:"danger-ghost",onClick:()=>{
Q("purge")},children:"Delete all\u2026"})]});return n(Z,{title:"Dead letters",actions:F,children:[n("form",{class:"filters",role:"search",onSubmit:P=>{P.preventDefault()},
children:[n(nt,{label:"Correlation id",value:t,set:P=>{we({correlationId:P})}}),n(nt,{label:`Planned from (${Ee()})`,type:"datetime-local",value:qe(r),set:P=>{we(
{dueFrom:ye(P)})}}),n(nt,{label:"Planned before",type:"datetime-local",value:qe(a),set:P=>{we({dueBefore:ye(P)})}}),D&&n(x,{kind:"ghost",onClick:()=>{de(["dead"])},
children:"Clear"})]}),$&&n(_e,{error:$,again:G}),!T&&g&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})}),T&&U.length===
0&&!g&&n(O,{children:n(J,{title:D?"No dead timer matches.":"No timer is dead.",children:D?"Change the filter, or clear it.":n(v,{children:["Timers whose retry p\
olicy has ended appear here, with their payload, for the dead retention of the namespace. ",n("a",{href:R(["timers"],{status:"retrying"}),children:"Timers that \
are retried"})]})})}),T&&U.length>0&&n(v,{children:[n("p",{class:"muted",role:"status",children:[le(T.read,"dead timer")," in ",le(U.length,"group"),", by host \
and reason",T.cursor&&", and more",". A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends."]}),
n("div",{class:"groups",children:U.slice(0,rr).map(([P,C])=>n("section",{class:"card group","aria-label":`${ar(C)}: ${C.error}`,children:[n("div",{class:"group-\
head",children:[n("span",{class:"group-count",children:E(C.count)}),n("div",{class:"group-text",children:[n("div",{children:[n("strong",{children:ar(C)})," ",C.
status?n(ie,{kind:"dead",children:["HTTP ",C.status]}):null]}),n("div",{class:"reason",children:C.error||"no reason"}),n("div",{class:"muted",children:["planned\
 ",ge(C.oldest),C.newest!==C.oldest&&` to ${ge(C.newest)}`]})]}),n("div",{class:"actions",children:[q&&C.error&&n(x,{kind:"small",onClick:()=>{Q("retry",C)},children:"\
Retry\u2026"}),q&&C.error&&n(x,{kind:"small danger-ghost",onClick:()=>{Q("purge",C)},children:"Delete\u2026"}),n(x,{kind:"small ghost","aria-expanded":h===P,onClick:()=>{
p(h===P?void 0:P)},children:[h===P?"Hide":"Show"," timers"]})]})]}),h===P&&n(Bo,{of:C},_),h===P&&C.count>C.timers.length&&n("p",{class:"muted pad",children:["Th\
e first ",C.timers.length," of ",E(C.count),"."]})]},P))}),U.length>rr&&n("p",{class:"muted",children:["The ",rr," largest groups."]}),T.cursor&&n("p",{children:n(
x,{disabled:g,onClick:()=>{he(T)},children:g?"Reading\u2026":"Read more"})})]}),y&&n(ft,{action:y,close:()=>{k(null)},after:G})]})}function La(e){return e.cron?e.cron:e.every?`every ${ne(e.every)}`:e.rrule?e.rrule:le(e.dates?.length??0,"date")}function Mo({payload:e,request:t,headers:r,...a}){
return ve.hidePayloads?a:{...a,payload:e,request:t,headers:r}}function Ia(){let e=oe.value.query.get("status")??"",t=oe.value.query.get("cursor")??"",r=S.value,
a=j(`${r}/${e}/${t}`,5e3,s=>I("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:t||void 0},s),!1,s=>s.scheduleId!==void 0);return n(Z,{title:"Sched\
ules",actions:ue("write",r)&&n("a",{class:"button primary",href:R(["new","schedule"]),children:"Create schedule"}),children:[n("form",{class:"filters",role:"sea\
rch",onSubmit:s=>{s.preventDefault()},children:n(pe,{label:"Status",value:e,set:s=>{we({status:s})},options:[["","All"],["active","Active"],["paused","Paused"],
["parked","Parked"]]})}),n(O,{flush:!0,wide:!0,children:n(W,{of:a,children:s=>n(v,{children:[s.schedules.length===0?n(J,{title:e?`No schedule is ${e}.`:"There a\
re no schedules in this namespace.",command:e?void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&
"A schedule creates a timer for each of its instants. Create the first one, here or with the CLI:"}):n(ce,{caption:"Schedules",head:["Schedule","Status","Occurs",
"Time zone","Next","Created"],stack:!0,children:s.schedules.map(o=>n("tr",{children:[n("td",{class:"id","data-label":"Schedule",children:n("a",{href:R(["schedul\
es",o.id]),children:o.id})}),n("td",{"data-label":"Status",children:n(Ie,{status:o.status})}),n("td",{class:"clip","data-label":"Occurs",children:n("code",{children:o.
specs.map(La).join("; ")})}),n("td",{"data-label":"Time zone",children:o.timeZone}),n("td",{"data-label":"Next",children:n(B,{at:o.nextAt})}),n("td",{class:"num",
"data-label":"Created",children:o.created})]},o.id))}),(s.nextCursor||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:R(["schedules"],{status:e}),children:"First page"}),s.nextCursor&&n("a",{class:"button",href:R(["schedules"],{status:e,cursor:s.nextCursor}),
children:"Next page"})]})]})]})})})]})}var Ho={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is t\
he first of the two.",second:"The clocks repeat its local time; this is the second of the two."};function sr({of:e,timeZone:t}){return e.length===0?n(J,{title:"\
There are no further occurrences."}):n(ce,{caption:"Next occurrences",head:[`Local time (${t})`,"Instant","Remark"],stack:!0,children:e.map(r=>n("tr",{children:[
n("td",{"data-label":"Local time",children:r.local.replace("T"," ")}),n("td",{"data-label":"Instant",children:n(B,{at:r.at})}),n("td",{"data-label":"Remark",children:r.
remark?n(v,{children:[n(ie,{kind:"retrying",children:"DST"})," ",Ho[r.remark]]}):n("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Ua({id:e}){let t=S.
value,r=f=>f.scheduleId===e,a=j(`schedule/${t}/${e}`,3e3,f=>I("schedules/get",{namespace:t,id:e},f),!1,r),s=a.data,o=j(`preview/${t}/${e}/${s?.version??0}`,3e4,
f=>I("schedules/preview",{namespace:t,id:e,limit:10},f)),i=j(`decisions/${t}/${e}`,5e3,f=>I("schedules/history",{namespace:t,id:e,limit:50},f),!1,r),[c,d]=m(null);
te(()=>(Le.value=s?.timeZone??null,()=>{Le.value=null}),[s?.timeZone]);let u=()=>{a.again(),i.again(),o.again()},l=s&&ue("write",t)&&s.status!=="ended"&&n(v,{children:[
n(x,{kind:"primary",onClick:()=>{d("trigger")},children:"Trigger\u2026"}),s.status==="active"?n(x,{onClick:()=>{d("pause")},children:"Pause\u2026"}):n(x,{onClick:()=>{
d("resume")},children:"Resume\u2026"}),n(x,{onClick:()=>{d("backfill")},children:"Backfill\u2026"}),n(x,{kind:"danger-ghost",onClick:()=>{d("delete")},children:"\
Delete\u2026"})]});return n(Z,{title:e,crumb:n(v,{children:[n("a",{href:R(["schedules"]),children:"Schedules"})," / ",t]}),actions:l,children:[n(W,{of:a,children:f=>n(
"div",{class:"grid",children:[n(jo,{of:f}),n(O,{title:"Timer of an occurrence",children:[n(dt,{value:Mo(f.timer),label:"Template"}),ve.hidePayloads&&n("p",{class:"\
hint",children:"Its payload, body and headers are hidden by the settings of the server."})]}),n(O,{title:"Next occurrences",wide:!0,flush:!0,aside:o.data&&n("sp\
an",{class:"muted",children:["time zones ",o.data.zoneVersion]}),children:[f.status==="paused"&&n("p",{class:"callout",children:"The schedule is paused: these o\
ccurrences are not created until it is resumed."}),n(W,{of:o,children:h=>n(sr,{of:h.occurrences,timeZone:h.timeZone})})]}),n(O,{title:"Decisions",wide:!0,flush:!0,
children:n(W,{of:i,children:({decisions:h})=>h.length===0?n(J,{title:"No occurrence was due yet."}):n(ce,{caption:"Decisions about occurrences",head:["Occurrenc\
e","Decision","Reason","Timer"],stack:!0,children:h.map(p=>n("tr",{children:[n("td",{"data-label":"Occurrence",children:n(B,{at:p.at})}),n("td",{"data-label":"D\
ecision",children:n(ie,{kind:p.decision==="created"?"done":p.decision==="skipped"?"retrying":"paused",children:p.decision})}),n("td",{"data-label":"Reason",children:p.
reason??n("span",{class:"muted",children:"\u2013"})}),n("td",{class:"id","data-label":"Timer",children:p.timerId?n("a",{href:R(["timers",p.timerId]),children:p.
timerId}):n("span",{class:"muted",children:"\u2013"})})]},p.at+p.decidedAt+p.decision))})})})]})}),s&&c&&n(Fo,{of:s,action:c,close:()=>{d(null)},after:u})]})}function jo({
of:e}){return n(O,{title:"Definition",aside:n(Ie,{status:e.status}),children:[n(ln,{of:e.pause}),n($e,{of:[["Occurs",e.specs.map((t,r)=>n("div",{children:n("cod\
e",{children:La(t)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&n(B,{at:e.nextAt})],["Created timers",e.created],["From",e.start&&n(B,{at:e.start})],["Unt\
il",e.end&&n(B,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.catchUp}, within ${ne(e.catchUpWindow)}`:e.catchUp],["Ski\
pped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Version",e.version],["Updated",n(B,{at:e.updatedAt})]]})]})}function Fo({
of:e,action:t,close:r,after:a}){let[s]=m(e),[o,i]=m(""),[c,d]=m("keep"),u={namespace:s.namespace,id:s.id},l={close:r,after:a};switch(t){case"trigger":return n(fe,
{...l,title:`Trigger ${s.id}`,verb:"Trigger",path:"schedules/trigger",body:()=>u,done:`${s.id} has created an occurrence.`,children:n("p",{children:"Creates an \
occurrence now, in addition to the planned ones."})});case"pause":return n(fe,{...l,title:`Pause ${s.id}`,verb:"Pause",path:"schedules/pause",body:()=>({...u,note:o||
void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"A paused schedule creates no occurrences."}),n(N,{label:"Note",value:o,set:i})]});case"resume":return n(
fe,{...l,title:`Resume ${s.id}`,verb:"Resume",path:"schedules/resume",body:()=>u,done:`${s.id} is resumed.`,children:n("p",{children:"The schedule continues wit\
h its next occurrence."})});case"delete":return n(fe,{...l,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"schedules/delete",done:`${s.id} is deleted.`,after:()=>{
de(["schedules"])},body:()=>({...u,pending:c,ifVersion:s.version}),children:n(pe,{label:"Its timers that are not finished",value:c,set:d,options:[["keep","Keep \
them"],["delete","Delete them"]]})});default:return n(Jo,{of:s,...l})}}function Jo({of:e,close:t,after:r}){let[a,s]=m(""),[o,i]=m(""),[c,d]=m(),[u,l]=m(""),[f,h]=m(
!1),p=pt(),y=K(!1),k=async()=>{let _=ye(o),w=ye(a);if(!w||!_){d(new me(0,"INCOMPLETE","Enter both times."));return}h(!0),d(void 0),y.current=!1;let b=0,T=0,g=()=>`${le(
b,"occurrence")} created, ${T} existed`;try{do{let $=await I("schedules/backfill",{namespace:e.namespace,id:e.id,from:w,to:_});b+=$.created,T+=$.kept,w=$.nextFrom,
l(`${g()}${w?`, continuing at ${ge(w)}`:""}.`)}while(w&&!y.current&&!p.current);w?ke(`${e.id}: ${g()}. Stopped at ${ge(w)}.`,"warn"):ke(`${e.id}: ${g()}.`),!w&&
!p.current&&t()}catch($){let M=se($);p.current&&ke(`Backfill ${e.id}: failed, ${g()}: ${M.message}`,"warn"),d(M)}h(!1),r()};return n(et,{title:`Backfill ${e.id}`,
close:t,children:n("form",{onSubmit:_=>{_.preventDefault(),k()},children:[n("p",{children:"Creates the occurrences of a past time range that do not exist. They \
are delivered at once."}),n(N,{label:`From (${Ee()})`,type:"datetime-local",step:"1",value:a,set:s,required:!0}),n(N,{label:"Before",type:"datetime-local",step:"\
1",value:o,set:i,required:!0,hint:"Not in the future."}),u&&n("p",{role:"status",class:"callout",children:u}),c&&n(_e,{error:c}),n("div",{class:"dialog-foot",children:[
f?n(x,{kind:"danger",onClick:()=>{y.current=!0},children:"Stop"}):n(x,{onClick:t,children:"Close"}),n("button",{type:"submit",class:"button primary",disabled:f,
children:f?"Working\u2026":"Backfill"})]})]})})}function Ba(e,t){return`curl${De.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${la}/api/v1/${e} \\
  -d ${un(JSON.stringify(t,null,2))}`}function Ma(e,t){let r=[...t,...S.value==="default"?[]:[["--namespace",S.value]]],a=e.at(-1)??"";return["timerbus "+(a.startsWith(
"-")?[...e.slice(0,-1),`--id=${a}`]:e).map(un).join(" "),...r.filter(([,o])=>o).map(([o,i])=>`  ${o} ${un(i)}`)].join(` \\
`)}function or(e){return Object.fromEntries(Object.entries(e).filter(([t,r])=>r!==void 0&&(r!==""||t==="payload")))}function Ha({curl:e,cli:t}){return n(O,{title:"\
The same request",children:[n("h3",{children:"curl"}),n(Ot,{text:e,label:"curl"}),n("h3",{children:"Command line"}),n(Ot,{text:t,label:"Command line"})]})}function ja({
title:e,label:t,id:r,invalid:a,send:s,children:o}){let[i,c]=m(),[d,u]=m(!1),l=pt(),f=ue("write",S.value),h=async()=>{if(a){c(new me(0,"INCOMPLETE",a));return}u(
!0),c(void 0);try{let p=await s();l.current||de(p)}catch(p){let y=se(p);l.current&&ke(`${t} ${r}: ${y.message}`,"warn"),c(y)}u(!1)};return n(O,{title:e,children:n(
"form",{onSubmit:p=>{p.preventDefault(),h()},children:[o,i&&n(_e,{error:i}),!f&&n("p",{class:"callout",children:["You have no right to write in ",S.value,"."]}),
n("button",{type:"submit",class:"button primary",disabled:d||!f,children:d?"Sending\u2026":t})]})})}var Fa=[["fail","Refuse (409)"],["replace","Replace it"],["k\
eep","Keep it"]];function Ja({children:e}){return n("details",{class:"more",onInvalidCapture:t=>{t.currentTarget.open=!0},children:[n("summary",{children:"More \
settings"}),e]})}function qa(){let[e,t]=m(""),[r,a]=m("in"),[s,o]=m("15m"),[i,c]=m(""),[d,u]=m(""),[l,f]=m(Yn),[h,p]=m("http://127.0.0.1:9000/"),[y,k]=m('{"orde\
r": 1842}'),[_,w]=m(""),[b,T]=m(""),[g,$]=m(""),[M,he]=m(""),[G,Q]=m("fail"),q=Rt(y),U=or({namespace:S.value,id:e,executeIn:r==="in"?s:void 0,executeAt:r==="at"?
ye(i):void 0,executeAtLocal:r==="local"?d.length===16?d+":00":d:void 0,timeZone:r==="local"?l:void 0,callbackUrl:h,payload:q.value,retryPolicy:_?{maxAttempts:Number(
_)}:void 0,callbackTimeout:b,correlationId:g,flowKey:M,onConflict:G}),D=[["--in",r==="in"?s:""],["--at",r==="at"?ye(i)??"":""],["--at-local",String(U.executeAtLocal??
"")],["--time-zone",String(U.timeZone??"")],["--callback-url",h],["--payload",q.value===void 0?"":JSON.stringify(q.value)],["--max-attempts",_],["--callback-tim\
eout",b],["--correlation-id",g],["--flow-key",M],["--on-conflict",G]],F=async()=>{let{data:P,late:C}=await je("timers/create",U);return ke(C?`${P.id} is replace\
d. An earlier delivery may have been sent.`:`${P.id} is created.`,C?"warn":"ok"),["timers",P.id]};return n(Z,{title:"Create timer",crumb:n(v,{children:[n("a",{href:R(
["timers"]),children:"Timers"})," / ",S.value]}),actions:n("a",{class:"button",href:R(["new","schedule"]),children:"Schedule instead"}),children:n("div",{class:"\
grid",children:[n(ja,{title:"Timer",label:"Create timer",id:e,invalid:q.error,send:F,children:[n(N,{label:"Id",value:e,set:t,required:!0,placeholder:"order-1842",
mono:!0,hint:"Unique in the namespace."}),n(pe,{label:"When",value:r,set:a,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),
r==="in"&&n(N,{label:"Duration",value:s,set:o,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&n(N,{label:`Time (${Ee()})`,type:"datetime-local",step:"1",
value:i,set:c,required:!0}),r==="local"&&n(v,{children:[n(N,{label:"Local time",type:"datetime-local",step:"1",value:d,set:u,required:!0}),n(N,{label:"Time zone",
value:l,set:f,hint:"If the rules of the zone change, the timer moves with them."})]}),n(N,{label:"Callback URL",value:h,set:p,mono:!0,hint:"Empty: an event on t\
imerbus.fired."}),n(Nt,{label:"Payload (JSON)",value:y,set:k,error:q.error}),n(pe,{label:"If the id exists",value:G,set:Q,options:Fa}),n(Ja,{children:[n(N,{label:"\
Attempts, at most",type:"number",value:_,set:w,hint:"1 to 1000; by default those of the namespace."}),n(N,{label:"Callback timeout",value:b,set:T,placeholder:"3\
0s"}),n(N,{label:"Correlation id",value:g,set:$}),n(N,{label:"Flow key",value:M,set:he,hint:"Timers with the same key share a limit of the namespace."})]})]}),n(
Ha,{curl:Ba("timers/create",U),cli:Ma(["timer","create",e||"order-1842"],D)})]})})}function Wa(){let[e,t]=m(""),[r,a]=m("cron"),[s,o]=m("0 8 * * MON-FRI"),[i,c]=m(
"15m"),[d,u]=m("FREQ=MONTHLY;BYDAY=-1FR"),[l,f]=m(Yn),[h,p]=m("http://127.0.0.1:9000/"),[y,k]=m(""),[_,w]=m("allow"),[b,T]=m("all"),[g,$]=m(""),[M,he]=m("fail"),
[G,Q]=m(),[q,U]=m(),D=Rt(y),F=r==="cron"?{cron:s}:r==="every"?{every:i}:{rrule:d},P=r!=="every",C=or({namespace:S.value,id:e,specs:[F],timeZone:P?l:void 0,overlap:_,
catchUp:b,count:g?Number(g):void 0,timer:or({callbackUrl:h,payload:D.value}),onConflict:M}),Te=[[`--${r}`,String(Object.values(F)[0])],["--time-zone",P?l:""],["\
--callback-url",h],["--payload",D.value===void 0?"":JSON.stringify(D.value)],["--overlap",_],["--catch-up",b],["--count",g],["--on-conflict",M]],Oe=JSON.stringify(
{namespace:S.value,specs:[F],timeZone:P?l:void 0});te(()=>{let at=new AbortController,Bs=setTimeout(()=>{I("schedules/preview",{...JSON.parse(Oe),limit:6},at.signal).
then(Rn=>{Q(Rn),U(void 0)},Rn=>{at.signal.aborted||(U(se(Rn)),Q(void 0))})},300);return()=>{clearTimeout(Bs),at.abort()}},[Oe]);let Us=async()=>{let{data:at}=await je(
"schedules/create",C);return ke(`${at.id} is created.`),["schedules",at.id]};return n(Z,{title:"Create schedule",crumb:n(v,{children:[n("a",{href:R(["schedules"]),
children:"Schedules"})," / ",S.value]}),actions:n("a",{class:"button",href:R(["new","timer"]),children:"Timer instead"}),children:n("div",{class:"grid",children:[
n(ja,{title:"Schedule",label:"Create schedule",id:e,invalid:D.error,send:Us,children:[n(N,{label:"Id",value:e,set:t,required:!0,placeholder:"daily-report",mono:!0}),
n(pe,{label:"Occurs",value:r,set:a,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&n(N,{label:"Cron expression",value:s,
set:o,mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&n(N,{label:"Interval",value:i,set:c,hint:"At le\
ast 1s."}),r==="rrule"&&n(N,{label:"RRULE",value:d,set:u,mono:!0}),P&&n(N,{label:"Time zone",value:l,set:f}),n(N,{label:"Callback URL",value:h,set:p,mono:!0,hint:"\
Empty: an event on timerbus.fired."}),n(Nt,{label:"Payload (JSON)",value:y,set:k,error:D.error,rows:3}),n(pe,{label:"If the id exists",value:M,set:he,options:Fa}),
n(Ja,{children:[n(pe,{label:"If the earlier occurrence is not finished",value:_,set:w,options:[["allow","Create the next one"],["skip","Leave the next one out"],
["queue","Create it afterwards"],["cancelOther","Delete the earlier one"]]}),n(pe,{label:"After an outage",value:b,set:T,options:[["all","Create all of the last\
 minute"],["last","Create the last one"],["none","Create none"]]}),n(N,{label:"Occurrences, at most",type:"number",value:g,set:$})]})]}),n("div",{class:"column",
children:[n(O,{title:"Next occurrences",flush:!0,children:[q&&n(_e,{error:q}),G&&n(sr,{of:G.occurrences,timeZone:G.timeZone})]}),n(Ha,{curl:Ba("schedules/create",
C),cli:Ma(["schedule","create",e||"daily-report"],Te)})]})]})})}function za(){let e=j("namespaces",15e3,rn),[t,r]=m(!1);return n(Z,{title:"Namespaces",actions:ut("admin")&&n(x,{kind:"primary",onClick:()=>{r(!0)},children:"Cr\
eate namespace\u2026"}),children:[n(O,{flush:!0,wide:!0,children:n(W,{of:e,children:a=>a.length===0?n(J,{title:"You may read no namespace.",command:"timerbus ke\
y list",children:"Ask an administrator for a grant such as read@default."}):n(v,{children:[Zn.value&&n("p",{class:"callout",children:["The first ",E(a.length),"\
 namespaces. ",n("code",{children:"timerbus namespace list"})," prints all."]}),n(ce,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host con\
currency","Max. pending","Signed","Updated"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Namespace",children:[n("a",{href:R(["\
namespaces",s.name]),children:s.name})," ",s.deletingSince&&n(ie,{kind:"dead",children:"being deleted"})]}),n("td",{class:"num","data-label":"Shards",children:s.
numShards}),n("td",{"data-label":"History",children:ne(s.settings.historyRetention)}),n("td",{"data-label":"Dead",children:ne(s.settings.deadRetention)}),n("td",
{class:"num","data-label":"Host concurrency",children:s.settings.hostConcurrency}),n("td",{class:"num","data-label":"Max. pending",children:s.settings.quota?.maxPending?
E(s.settings.quota.maxPending):n("span",{class:"muted",children:"no limit"})}),n("td",{"data-label":"Signed",children:s.settings.secrets?.length?"yes":n("span",
{class:"muted",children:"no"})}),n("td",{"data-label":"Updated",children:n(B,{at:s.updatedAt,only:"relative"})})]},s.name))})]})})}),t&&n(qo,{close:()=>{r(!1)},
after:e.again})]})}function qo({close:e,after:t}){let[r,a]=m(""),[s,o]=m("small");return n(fe,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?
{name:r,preset:s}:"Enter a name.",done:`${r} is created.`,close:e,after:t,children:[n(N,{label:"Name",value:r,set:a,required:!0}),n(pe,{label:"Size",value:s,set:o,
hint:"It can never be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["x\
large","Below 100,000,000 (4,096)"]]})]})}function Ka({name:e}){let t=j(`namespace/${e}`,5e3,d=>I("namespaces/get",{name:e},d)),[r,a]=m(null),[s,o]=m(!1),i=d=>{
a({title:`${d==="pause"?"Pause":"Resume"} ${e}`,verb:d==="pause"?"Pause":"Resume",done:d==="pause"?"paused":"resumed",path:`timers/${d}-matching`,filter:{namespace:e},
describe:d==="pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:(u,l)=>tt(
{namespace:e},d==="resume"?["paused"]:["scheduled","retrying"],u,l)})},c=t.data&&n(v,{children:[ue("write",e)&&n(x,{onClick:()=>{i("pause")},children:"Pause all\
 timers\u2026"}),ue("write",e)&&n(x,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),ue("admin",e)&&n(x,{kind:"primary",onClick:()=>{o(!0)},children:"\
Edit\u2026"})]});return n(Z,{title:e,crumb:n("a",{href:R(["namespaces"]),children:"Namespaces"}),actions:c,children:[n(W,{of:t,children:d=>{let u=d.settings,l=u.
retryPolicy;return n("div",{class:"grid",children:[n(O,{title:"Settings",aside:d.deletingSince&&n(ie,{kind:"dead",children:"being deleted"}),children:n($e,{of:[
["Shards",d.numShards],["Callback timeout",ne(u.callbackTimeout)],["Retry",`${le(l.maxAttempts,"attempt")}, from ${ne(l.initialInterval)}, \xD7 ${JSON.stringify(
l.backoffMultiplier)}, to ${ne(l.maxInterval)}`],["History",ne(u.historyRetention)],["Dead timers",ne(u.deadRetention)],["Payloads of done timers",u.keepPayload?
ne(u.keepPayload):"not kept"],["Final statuses",u.finalStatuses?.join(", ")],["Event topics",u.eventTopics?.join(", ")],["On done",u.onDone&&n("code",{children:u.
onDone})],["On dead",u.onDead&&n("code",{children:u.onDead})],["Result events",u.results],["Headers",u.headers&&Object.keys(u.headers).join(", ")],["Version",d.
version],["Updated",n(B,{at:d.updatedAt})]]})}),n(O,{title:"Limits",children:n($e,{of:[["Calls of one host",`${u.hostConcurrency} for each dispatcher`],["Pendin\
g timers",u.quota?.maxPending?E(u.quota.maxPending):"no limit"],["Creates",u.quota?.createsPerSecond?`${E(u.quota.createsPerSecond)} per second`:"no limit"],["P\
ayload",u.quota?.maxPayloadBytes?`${E(u.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(u.flows??[]).map(f=>[`Flow ${f.pattern}`,on(f)])]})}),n(O,{title:"Ke\
ys of signatures",flush:!0,wide:!0,children:u.secrets?.length?n(ce,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:u.secrets.map(f=>n("tr",
{children:[n("td",{children:n("code",{children:f.id})}),n("td",{children:n(B,{at:f.createdAt})}),n("td",{children:f.expiresAt?n(B,{at:f.expiresAt}):"never"})]},
f.id))}):n(J,{title:"Callbacks of this namespace are not signed.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with the CLI:"})}),
(u.callbackAuth||u.tls)&&n(O,{title:"Authentication of callbacks",children:n($e,{of:[["Type",u.callbackAuth?.type],["Token endpoint",u.callbackAuth?.tokenUrl],[
"Client",u.callbackAuth?.clientId??u.callbackAuth?.username],["Own authorities",u.tls?.ca&&"yes"],["Client certificate",u.tls?.certificate&&"yes"]]})})]})}}),r&&
n(ft,{action:r,close:()=>{a(null)},after:t.again}),s&&t.data&&n(Wo,{of:t.data,close:()=>{o(!1)},after:t.again})]})}function Wo({of:e,close:t,after:r}){let[a]=m(
e),s=a.settings,o={callbackTimeout:ne(s.callbackTimeout),historyRetention:ne(s.historyRetention),deadRetention:ne(s.deadRetention),hostConcurrency:String(s.hostConcurrency),
maxPending:String(s.quota?.maxPending??"")},[i,c]=m(o),d=l=>f=>{c({...i,[l]:f})},u=()=>{let l={};for(let f of["callbackTimeout","historyRetention","deadRetentio\
n"])i[f]!==o[f]&&(l[f]=i[f]||null);return i.hostConcurrency!==o.hostConcurrency&&(l.hostConcurrency=i.hostConcurrency?Number(i.hostConcurrency):null),i.maxPending!==
o.maxPending&&(l.quota={...s.quota,maxPending:i.maxPending?Number(i.maxPending):null}),Object.keys(l).length?{name:a.name,settings:l,ifVersion:a.version}:"Nothi\
ng has changed."};return n(fe,{title:`Edit ${a.name}`,verb:"Save",path:"namespaces/update",body:u,done:`${a.name} is updated.`,close:t,after:r,children:[n(N,{label:"\
Callback timeout",value:i.callbackTimeout,set:d("callbackTimeout"),hint:"1s to 5m"}),n(N,{label:"History retention",value:i.historyRetention,set:d("historyReten\
tion")}),n(N,{label:"Dead retention",value:i.deadRetention,set:d("deadRetention")}),n(N,{label:"Calls of one host for each dispatcher",type:"number",value:i.hostConcurrency,
set:d("hostConcurrency"),hint:"1 to 1024"}),n(N,{label:"Pending timers, at most",type:"number",value:i.maxPending,set:d("maxPending"),hint:"Empty: no limit"}),n(
"p",{class:"hint",children:["Empty fields get their default. All other settings: ",n("code",{children:["timerbus namespace update ",a.name," --help"]})]})]})}var ir;(typeof navigator>"u"||!navigator.userAgent?.startsWith?.("Mozilla/5.0 "))&&(ir="oauth4webapi/v3.8.8");function Sn(e,t){if(e==null)return!1;try{return e instanceof
t||Object.getPrototypeOf(e)[Symbol.toStringTag]===t.prototype[Symbol.toStringTag]}catch{return!1}}var Re="ERR_INVALID_ARG_VALUE",Pe="ERR_INVALID_ARG_TYPE";function Y(e,t,r){
let a=new TypeError(e,{cause:r});return Object.assign(a,{code:t}),a}var Tn=Symbol(),zo=Symbol(),Ko=Symbol(),Ya=Symbol();var Va=Symbol();var Vo=new TextEncoder,Zo=new TextDecoder;function cr(e){return typeof e=="string"?Vo.encode(e):Zo.decode(e)}var ur;Uint8Array.prototype.toBase64?ur=e=>(e instanceof
ArrayBuffer&&(e=new Uint8Array(e)),e.toBase64({alphabet:"base64url",omitPadding:!0})):ur=t=>{t instanceof ArrayBuffer&&(t=new Uint8Array(t));let r=[];for(let a=0;a<
t.byteLength;a+=32768)r.push(String.fromCharCode.apply(null,t.subarray(a,a+32768)));return btoa(r.join("")).replace(/=/g,"").replace(/\+/g,"-").replace(/\//g,"_")};
var lr;Uint8Array.fromBase64?lr=e=>{try{return Uint8Array.fromBase64(e,{alphabet:"base64url"})}catch(t){throw Y("The input to be decoded is not correctly encode\
d.",Re,t)}}:lr=e=>{try{let t=atob(e.replace(/-/g,"+").replace(/_/g,"/").replace(/\s/g,"")),r=new Uint8Array(t.length);for(let a=0;a<t.length;a++)r[a]=t.charCodeAt(
a);return r}catch(t){throw Y("The input to be decoded is not correctly encoded.",Re,t)}};function _n(e){return typeof e=="string"?lr(e):ur(e)}var gt=class extends Error{code;constructor(t,r){
super(t,r),this.name=this.constructor.name,this.code=Ni,Error.captureStackTrace?.(this,this.constructor)}},dr=class extends Error{code;constructor(t,r){super(t,
r),this.name=this.constructor.name,r?.code&&(this.code=r?.code),Error.captureStackTrace?.(this,this.constructor)}};function A(e,t,r){return new dr(e,{code:t,cause:r})}function bn(e){return!(e===null||typeof e!="object"||Array.isArray(e))}function Qa(e){Sn(e,Headers)&&(e=Object.fromEntries(e.entries()));let t=new Headers(e??{});
if(ir&&!t.has("user-agent")&&t.set("user-agent",ir),t.has("authorization"))throw Y('"options.headers" must not include the "authorization" header name',Re);return t}
function Xa(e,t){if(t!==void 0){if(typeof t=="function"&&(t=t(e.href)),!(t instanceof AbortSignal))throw Y('"options.signal" must return or be an instance of Ab\
ortSignal',Pe);return t}}function es(e){return e.includes("//")?e.replace("//","/"):e}function Go(e,t,r=!1){return e.pathname==="/"?e.pathname=t:e.pathname=es(`${t}\
/${r?e.pathname:e.pathname.replace(/(\/)$/,"")}`),e}function Yo(e,t){return e.pathname=es(`${e.pathname}/${t}`),e}async function Qo(e,t,r,a){if(!(e instanceof URL))
throw Y(`"${t}" must be an instance of URL`,Pe);ps(e,a?.[Tn]!==!0);let s=r(new URL(e.href)),o=Qa(a?.headers);return o.set("accept","application/json"),(a?.[Ya]||
fetch)(s.href,{body:void 0,headers:Object.fromEntries(o.entries()),method:"GET",redirect:"manual",signal:Xa(s,a?.signal)})}async function ts(e,t){return Qo(e,"i\
ssuerIdentifier",r=>{switch(t?.algorithm){case void 0:case"oidc":Yo(r,".well-known/openid-configuration");break;case"oauth2":Go(r,".well-known/oauth-authorizati\
on-server");break;default:throw Y('"options.algorithm" must be "oidc" (default), or "oauth2"',Re)}return r},t)}function vn(e,t,r,a,s){try{if(typeof e!="number"||
!Number.isFinite(e))throw Y(`${r} must be a number`,Pe,s);if(e>0)return;if(t){if(e!==0)throw Y(`${r} must be a non-negative number`,Re,s);return}throw Y(`${r} m\
ust be a positive number`,Re,s)}catch(o){throw a?A(o.message,a,s):o}}function xe(e,t,r,a){try{if(typeof e!="string")throw Y(`${t} must be a string`,Pe,a);if(e.length===
0)throw Y(`${t} must not be empty`,Re,a)}catch(s){throw r?A(s.message,r,a):s}}async function ns(e,t){let r=e;if(!(r instanceof URL)&&r!==Ga)throw Y('"expectedIs\
suerIdentifier" must be an instance of URL',Pe);if(!Sn(t,Response))throw Y('"response" must be an instance of Response',Pe);if(t.status!==200)throw A('"response\
" is not a conform Authorization Server Metadata response (unexpected HTTP status code)',ks,t);br(t);let a=await Ss(t);if(xe(a.issuer,'"response" body "issuer" \
property',H,{body:a}),r!==Ga&&new URL(a.issuer).href!==r.href)throw A('"response" body "issuer" property does not match the expected value',Bi,{expected:r.href,
body:a,attribute:"issuer"});return a}function rs(e){ei(e,"application/json")}function Xo(e,...t){let r='"response" content-type must be ';if(t.length>2){let a=t.
pop();r+=`${t.join(", ")}, or ${a}`}else t.length===2?r+=`${t[0]} or ${t[1]}`:r+=t[0];return A(r,Li,e)}function ei(e,t){if(mi(e)!==t)throw Xo(e,t)}function mr(){return _n(crypto.getRandomValues(new Uint8Array(32)))}function as(){return mr()}function ss(){return mr()}
function os(){return mr()}async function is(e){return xe(e,"codeVerifier"),_n(await crypto.subtle.digest("SHA-256",cr(e)))}function cs(e){let t=e?.[zo];return typeof t=="number"&&Number.isFinite(t)?t:0}function us(e){let t=e?.[Ko];return typeof t=="number"&&Number.isFinite(t)&&Math.
sign(t)!==-1?t:30}function ls(){return Math.floor(Date.now()/1e3)}function gr(e){if(typeof e!="object"||e===null)throw Y('"as" must be an object',Pe);xe(e.issuer,
'"as.issuer"')}function yr(e){if(typeof e!="object"||e===null)throw Y('"client" must be an object',Pe);xe(e.client_id,'"client.client_id"')}function ds(){return(e,t,r,a)=>{r.set("client_id",t.client_id)}}var ti=URL.parse?(e,t)=>URL.parse(e,t):(e,t)=>{try{return new URL(e,t)}catch{return null}};function ps(e,t){if(t&&e.protocol!=="https:")throw A("only requests t\
o HTTPS are allowed",Ii,e);if(e.protocol!=="https:"&&e.protocol!=="http:")throw A("only HTTP and HTTPS requests are allowed",Ui,e)}function Za(e,t,r,a){let s;if(typeof e!=
"string"||!(s=ti(e)))throw A(`authorization server metadata does not contain a valid ${r?`"as.mtls_endpoint_aliases.${t}"`:`"as.${t}"`}`,e===void 0?Mi:Hi,{attribute:r?
`mtls_endpoint_aliases.${t}`:t});return ps(s,a),s}function ni(e,t,r,a){return r&&e.mtls_endpoint_aliases&&t in e.mtls_endpoint_aliases?Za(e.mtls_endpoint_aliases[t],
t,r,a):Za(e[t],t,r,a)}var Lt=class extends Error{cause;code;error;status;error_description;response;constructor(t,r){super(t,r),this.name=this.constructor.name,this.code=Oi,this.cause=
r.cause,this.error=r.cause.error,this.status=r.response.status,this.error_description=r.cause.error_description,Object.defineProperty(this,"response",{enumerable:!1,
value:r.response}),Error.captureStackTrace?.(this,this.constructor)}},It=class extends Error{cause;code;error;error_description;constructor(t,r){super(t,r),this.
name=this.constructor.name,this.code=Di,this.cause=r.cause,this.error=r.cause.get("error"),this.error_description=r.cause.get("error_description")??void 0,Error.
captureStackTrace?.(this,this.constructor)}},pr=class extends Error{cause;code;response;status;constructor(t,r){super(t,r),this.name=this.constructor.name,this.
code=$i,this.cause=r.cause,this.status=r.response.status,this.response=r.response,Object.defineProperty(this,"response",{enumerable:!1}),Error.captureStackTrace?.(
this,this.constructor)}},wn="[a-zA-Z0-9!#$%&\\'\\*\\+\\-\\.\\^_`\\|~]+",ri="[a-zA-Z0-9\\-\\._\\~\\+\\/]+={0,2}",ai='"((?:[^"\\\\]|\\\\[\\s\\S])*)"',si="("+wn+")\
\\s*=\\s*"+ai,oi="("+wn+")\\s*=\\s*("+wn+")",ii=new RegExp("^[,\\s]*("+wn+")"),ci=new RegExp("^[,\\s]*"+si+"[,\\s]*(.*)"),ui=new RegExp("^[,\\s]*"+oi+"[,\\s]*(.*\
)"),li=new RegExp("^("+ri+")(?:$|[,\\s])(.*)");function di(e){if(!Sn(e,Response))throw Y('"response" must be an instance of Response',Pe);let t=e.headers.get("w\
ww-authenticate");if(t===null)return;let r=[],a=t;for(;a;){let s=a.match(ii),o=s?.[1].toLowerCase();if(!o)return;let i=a.substring(s[0].length);if(i&&!i.match(/^[\s,]/))
return;let c=i.match(/^\s+(.*)$/),d=!!c;a=c?c[1]:void 0;let u={},l;if(d)for(;a;){let h,p;if(s=a.match(ci)){[,h,p,a]=s,p.includes("\\")&&(p=p.replace(/\\([\s\S])/g,
"$1")),u[h.toLowerCase()]=p;continue}if(s=a.match(ui)){[,h,p,a]=s,u[h.toLowerCase()]=p;continue}if(s=a.match(li)){if(Object.keys(u).length)break;[,l,a]=s;break}
return}else a=i||void 0;let f={scheme:o,parameters:u};l&&(f.token68=l),r.push(f)}if(r.length)return r}async function pi(e){if(e.status>399&&e.status<500){br(e),rs(e);try{let t=await e.clone().json();if(bn(t)&&typeof t.error=="string"&&t.error.length)return t}catch{}}}
async function fi(e,t,r){if(e.status!==t){bi(e);let a;throw(a=await pi(e))?(await e.body?.cancel(),new Lt("server responded with an error in the response body",
{cause:a,response:e})):A(`"response" is not a conform ${r} response (unexpected HTTP status code)`,ks,e)}}function hi(e){if(!_r.has(e))throw Y('"options.DPoP" i\
s not a valid DPoPHandle',Re)}function mi(e){return e.headers.get("content-type")?.split(";")[0]}async function gi(e,t,r,a,s,o,i){return await r(e,t,s,o),o.set("content-type","application/x-www-form-urlencoded;charset=UTF-8"),(i?.[Ya]||fetch)(a.href,{body:s,
headers:Object.fromEntries(o.entries()),method:"POST",redirect:"manual",signal:Xa(a,i?.signal)})}async function yi(e,t,r,a,s,o){let i=ni(e,"token_endpoint",t.use_mtls_endpoint_aliases,
o?.[Tn]!==!0);s.set("grant_type",a);let c=Qa(o?.headers);c.set("accept","application/json"),o?.DPoP!==void 0&&(hi(o.DPoP),await o.DPoP.addProof(i,c,"POST"));let d=await gi(
e,t,r,i,s,c,o);return o?.DPoP?.cacheNonce(d,i),d}var fs=new WeakMap,_i=new WeakMap;function hs(e){if(!e.id_token)return;let t=fs.get(e);if(!t)throw Y('"ref" was already garbage collected or did not resolve fro\
m the proper sources',Re);return t}async function ms(e,t,r,a,s,o){if(gr(e),yr(t),!Sn(r,Response))throw Y('"response" must be an instance of Response',Pe);await fi(r,200,"Token Endpoint"),br(r);let i=await Ss(
r);if(xe(i.access_token,'"response" body "access_token" property',H,{body:i}),xe(i.token_type,'"response" body "token_type" property',H,{body:i}),i.token_type=i.
token_type.toLowerCase(),i.expires_in!==void 0){let c=typeof i.expires_in!="number"?parseFloat(i.expires_in):i.expires_in;vn(c,!0,'"response" body "expires_in" \
property',H,{body:i}),i.expires_in=c}if(i.refresh_token!==void 0&&xe(i.refresh_token,'"response" body "refresh_token" property',H,{body:i}),i.scope!==void 0&&typeof i.
scope!="string")throw A('"response" body "scope" property must be a string',H,{body:i});if(i.id_token!==void 0){xe(i.id_token,'"response" body "id_token" proper\
ty',H,{body:i});let c=[];t.require_auth_time===!0&&c.push("auth_time"),t.default_max_age!==void 0&&(vn(t.default_max_age,!0,'"client.default_max_age"'),c.push("\
auth_time")),a?.length&&c.push(...a);let{claims:d,jwt:u}=await Ci(e,t,i.id_token,c,s);Ri(t,d),Ai(d),_i.set(r,u),fs.set(i,d)}if(o?.[i.token_type]!==void 0)o[i.token_type](
r,i);else if(i.token_type!=="dpop"&&i.token_type!=="bearer")throw new gt("unsupported `token_type` value",{cause:{body:i}});return i}function bi(e){let t;if(t=di(
e))throw new pr("server responded with a challenge in the WWW-Authenticate HTTP Header",{cause:t,response:e})}function vi(e,t){if(Array.isArray(t.claims.aud)){if(!t.claims.aud.includes(e))throw A('unexpected JWT "aud" (audience) claim value',yt,{expected:e,claims:t.claims,
claim:"aud"})}else if(t.claims.aud!==e)throw A('unexpected JWT "aud" (audience) claim value',yt,{expected:e,claims:t.claims,claim:"aud"});return t}function wi(e,t){let r=e[Wi]?.(t)??e.issuer;if(t.claims.iss!==r)throw A('unexpected JWT "iss" (issuer) claim value',yt,{expected:r,claims:t.claims,claim:"iss"});
return t}var _r=new WeakSet;function ki(e){return _r.add(e),e}var xi=Symbol();async function gs(e,t,r,a,s,o,i){if(gr(e),yr(t),!_r.has(a))throw Y('"callbackParam\
eters" must be an instance of URLSearchParams obtained from "validateAuthResponse()", or "validateJwtAuthResponse()',Re);xe(s,'"redirectUri"');let c=rt(a,"code");
if(!c)throw A('no authorization code in "callbackParameters"',H);let d=new URLSearchParams(i?.additionalParameters);return d.set("redirect_uri",s),d.set("code",
c),o!==xi&&(xe(o,'"codeVerifier"'),d.set("code_verifier",o)),yi(e,t,r,"authorization_code",d,i)}var ys={aud:"audience",c_hash:"code hash",client_id:"client id",
exp:"expiration time",iat:"issued at",iss:"issuer",jti:"jwt id",nonce:"nonce",s_hash:"state hash",sub:"subject",ath:"access token hash",htm:"http method",htu:"h\
ttp uri",cnf:"confirmation",auth_time:"authentication time"};function Si(e,t){for(let r of e)if(t.claims[r]===void 0)throw A(`JWT "${r}" (${ys[r]}) claim missin\
g`,H,{claims:t.claims});return t}function Ti(e,t){if(typeof t.claims[e]!="string")throw A(`unexpected JWT "${e}" (${ys[e]}) claim type`,H,{claims:t.claims});return t}
function Ci(e,t,r,a,s){return ji(r,Fi.bind(void 0,t.id_token_signed_response_alg,e.id_token_signing_alg_values_supported,"RS256"),cs(t),us(t),s).then(Si.bind(void 0,
["aud","exp","iat","iss","sub",...a])).then(wi.bind(void 0,e)).then(vi.bind(void 0,t.client_id)).then(Ti.bind(void 0,"sub"))}function _s(e,t){if(t===xn)return t;
let r=t===void 0;return r&&(t=e.default_max_age),t===void 0?xn:(vn(t,!0,r?'"client.default_max_age"':'"maxAge" argument'),t)}function Ai(e){e.auth_time!==void 0&&
vn(e.auth_time,!0,'ID Token "auth_time" (authentication time)',H,{claims:e})}function bs(e,t,r){if(r===xn)return;let a=ls()+cs(e),s=us(e);if(t.auth_time+r<a-s)throw A(
"too much time has elapsed since the last End-User authentication",hr,{claims:t,now:a,tolerance:s,claim:"auth_time"})}function vs(e,t){let r=t===kn?void 0:t;if(e.
nonce!==r)throw A('unexpected ID Token "nonce" claim value',yt,{expected:r,claims:e,claim:"nonce"})}function Ri(e,t){if(Array.isArray(t.aud)&&t.aud.length!==1){
if(t.azp===void 0)throw A('ID Token "aud" (audience) claim includes additional untrusted audiences',yt,{claims:t,claim:"aud"});if(t.azp!==e.client_id)throw A('u\
nexpected ID Token "azp" (authorized party) claim value',yt,{expected:e.client_id,claims:t,claim:"azp"})}}var kn=Symbol(),xn=Symbol();async function ws(e,t,r,a){
return typeof a?.expectedNonce=="string"||typeof a?.maxAge=="number"||a?.requireIdToken?Pi(e,t,r,a.expectedNonce,a.maxAge,a[Va],a.recognizedTokenTypes):Ei(e,t,r,
a?.maxAge,a?.[Va],a?.recognizedTokenTypes)}async function Pi(e,t,r,a,s,o,i){let c=[];switch(a){case void 0:a=kn;break;case kn:break;default:xe(a,'"expectedNonce\
" argument'),c.push("nonce")}s=_s(t,s),s!==xn&&c.push("auth_time");let d=await ms(e,t,r,c,o,i);xe(d.id_token,'"response" body "id_token" property',H,{body:d});let u=hs(
d);return bs(t,u,s),vs(u,a),d}async function Ei(e,t,r,a,s,o){let i=await ms(e,t,r,void 0,s,o),c=hs(i);return c&&(bs(t,c,_s(t,a)),vs(c,kn)),i}var $i="OAUTH_WWW_A\
UTHENTICATE_CHALLENGE",Oi="OAUTH_RESPONSE_BODY_ERROR",Ni="OAUTH_UNSUPPORTED_OPERATION",Di="OAUTH_AUTHORIZATION_RESPONSE_ERROR";var fr="OAUTH_PARSE_ERROR",H="OAUTH_INVALID_RESPONSE";var Li="OAUTH_RESPONSE_IS_NOT_JSON",ks="OAUTH_RESPONSE_IS_NOT_CONFORM",Ii="OAUTH_HTTP_REQUEST_FORBIDDEN",Ui="OAUTH_REQUEST_PROTOCOL_FORBIDDEN",hr="OAUTH_JWT_TIM\
ESTAMP_CHECK_FAILED",yt="OAUTH_JWT_CLAIM_COMPARISON_FAILED",Bi="OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED";var Mi="OAUTH_MISSING_SERVER_METADATA",Hi="OAUTH_INVALID_SERVER_METADATA";function br(e){if(e.bodyUsed)throw Y('"response" body has been used already',Re)}async function ji(e,t,r,a,s){let{0:o,1:i,length:c}=e.split(".");if(c===5)if(s!==void 0)e=await s(e),{0:o,1:i,length:c}=e.split(".");else throw new gt("JWE decry\
ption is not configured",{cause:e});if(c!==3)throw A("Invalid JWT",H,e);let d;try{d=JSON.parse(cr(_n(o)))}catch(f){throw A("failed to parse JWT Header body as b\
ase64url encoded JSON",fr,f)}if(!bn(d))throw A("JWT Header must be a top level object",H,e);if(t(d),d.crit!==void 0)throw new gt('no JWT "crit" header parameter\
 extensions are supported',{cause:{header:d}});let u;try{u=JSON.parse(cr(_n(i)))}catch(f){throw A("failed to parse JWT Payload body as base64url encoded JSON",fr,
f)}if(!bn(u))throw A("JWT Payload must be a top level object",H,e);let l=ls()+r;if(u.exp!==void 0){if(typeof u.exp!="number")throw A('unexpected JWT "exp" (expi\
ration time) claim type',H,{claims:u});if(u.exp<=l-a)throw A('unexpected JWT "exp" (expiration time) claim value, expiration is past current timestamp',hr,{claims:u,
now:l,tolerance:a,claim:"exp"})}if(u.iat!==void 0&&typeof u.iat!="number")throw A('unexpected JWT "iat" (issued at) claim type',H,{claims:u});if(u.iss!==void 0&&
typeof u.iss!="string")throw A('unexpected JWT "iss" (issuer) claim type',H,{claims:u});if(u.nbf!==void 0){if(typeof u.nbf!="number")throw A('unexpected JWT "nb\
f" (not before) claim type',H,{claims:u});if(u.nbf>l+a)throw A('unexpected JWT "nbf" (not before) claim value',hr,{claims:u,now:l,tolerance:a,claim:"nbf"})}if(u.
aud!==void 0&&typeof u.aud!="string"&&!Array.isArray(u.aud))throw A('unexpected JWT "aud" (audience) claim type',H,{claims:u});return{header:d,claims:u,jwt:e}}function Fi(e,t,r,a){if(e!==void 0){if(typeof e=="string"?a.alg!==e:!e.includes(a.alg))throw A('unexpected JWT "alg" header parameter',H,{header:a,expected:e,reason:"\
client configuration"});return}if(Array.isArray(t)){if(!t.includes(a.alg))throw A('unexpected JWT "alg" header parameter',H,{header:a,expected:t,reason:"authori\
zation server metadata"});return}if(r!==void 0){if(typeof r=="string"?a.alg!==r:typeof r=="function"?!r(a.alg):!r.includes(a.alg))throw A('unexpected JWT "alg" \
header parameter',H,{header:a,expected:r,reason:"default value"});return}throw A('missing client or server configuration to verify used JWT "alg" header paramet\
er',void 0,{client:e,issuer:t,fallback:r})}function rt(e,t){let{0:r,length:a}=e.getAll(t);if(a>1)throw A(`"${t}" parameter must be provided only once`,H);return r}
var Ji=Symbol(),qi=Symbol();function xs(e,t,r,a){if(gr(e),yr(t),r instanceof URL&&(r=r.searchParams),!(r instanceof URLSearchParams))throw Y('"parameters" must \
be an instance of URLSearchParams, or URL',Pe);if(rt(r,"response"))throw A('"parameters" contains a JARM response, use validateJwtAuthResponse() instead of vali\
dateAuthResponse()',H,{parameters:r});let s=rt(r,"iss"),o=rt(r,"state");if(!s&&e.authorization_response_iss_parameter_supported)throw A('response parameter "iss\
" (issuer) missing',H,{parameters:r});if(s&&s!==e.issuer)throw A('unexpected "iss" (issuer) response parameter value',H,{expected:e.issuer,parameters:r});switch(a){case void 0:case qi:
if(o!==void 0)throw A('unexpected "state" response parameter encountered',H,{expected:void 0,parameters:r});break;case Ji:break;default:if(xe(a,'"expectedState"\
 argument'),o!==a)throw A(o===void 0?'response parameter "state" missing':'unexpected "state" response parameter value',H,{expected:a,parameters:r})}if(rt(r,"er\
ror"))throw new It("authorization response from the server is an error",{cause:r});let c=rt(r,"id_token"),d=rt(r,"token");if(c!==void 0||d!==void 0)throw new gt(
"implicit and hybrid flows are not supported");return ki(new URLSearchParams(r))}async function Ss(e,t=rs){let r;try{r=await e.json()}catch(a){throw t(e),A('failed to parse "response" body as JSON',fr,a)}if(!bn(r))throw A('"response" body mu\
st be a top level object',H,{body:r});return r}var Ga=Symbol(),Wi=Symbol();var wr="timerbus-sign-in",Ki=1e4,kr=new URL("./",document.baseURI).href,{issuer:_t,audience:Ts,clientID:Cn,scopes:Vi}=ve.signIn,vr={client_id:Cn},We=Cn&&new URL(
_t).host,Cs=()=>({[Tn]:_t.startsWith("http:"),signal:AbortSignal.timeout(Ki)});async function As(){if(!isSecureContext)throw new Error("This page must be opened\
 with HTTPS to sign in with the identity provider.");let e=await ns(new URL(_t),await ts(new URL(_t),Cs()));if(!e.authorization_endpoint||!e.token_endpoint)throw new Error(
"It has no endpoints for the sign-in of users.");if(new URL(e.token_endpoint).origin!==new URL(_t).origin)throw new Error(`Its token endpoint ${e.token_endpoint}\
 has another origin than the issuer, to which the policy of this page allows no requests.`);if(new URL(e.authorization_endpoint).protocol!==new URL(_t).protocol)
throw new Error(`Its sign-in page ${e.authorization_endpoint} has another scheme than the issuer.`);return e}function Rs(e){if(e instanceof It||e instanceof Lt)
return new Error(`${We} refuses the sign-in: ${[e.error,e.error_description].filter(Boolean).join(": ")}`);let t=e instanceof Error?e.message:String(e);return e instanceof
TypeError&&!e.code?new Error(`${We} cannot be reached from this browser, or does not allow requests of this page (CORS): ${t}`):new Error(`The sign-in with ${We}\
 has failed: ${t}`)}async function Ps(){try{let e=await As(),t={state:ss(),nonce:os(),verifier:as(),hash:location.hash},r=new URL(e.authorization_endpoint);for(let[
a,s]of Object.entries({response_type:"code",client_id:Cn,redirect_uri:kr,scope:Vi,state:t.state,nonce:t.nonce,code_challenge:await is(t.verifier),code_challenge_method:"\
S256"}))r.searchParams.set(a,s);sessionStorage.setItem(wr,JSON.stringify(t)),location.assign(r)}catch(e){throw Rs(e)}}function Es(){let e=new URLSearchParams(location.
search);return Cn!==""&&(e.has("code")||e.has("error"))}async function $s(){let e=new URL(location.href),t=JSON.parse(sessionStorage.getItem(wr)??"null");if(sessionStorage.
removeItem(wr),history.replaceState(null,"",kr+(t?.hash??"")),dispatchEvent(new HashChangeEvent("hashchange")),!t)throw new Error("The answer of the identity pr\
ovider belongs to no sign-in of this tab. Sign in again.");try{let r=await As(),a=xs(r,vr,e,t.state),s=await gs(r,vr,ds(),a,kr,t.verifier,Cs()),o=await ws(r,vr,
s,{expectedNonce:t.nonce,requireIdToken:!0}),i=[o.access_token,o.id_token].find(c=>c!==void 0&&Zi(c).includes(Ts));if(!i)throw new Error(`neither the access tok\
en nor the ID token is a JWT with the audience ${Ts}.`);ct(i)}catch(r){throw Rs(r)}}function Zi(e){try{let t=atob((e.split(".")[1]??"").replaceAll("-","+").replaceAll(
"_","/"));return[JSON.parse(t).aud??[]].flat()}catch{return[]}}var Gi=50;function Yi(e){if(!e.held)return"free";let t=Qn(e.overdueFor??"");return t>=6e4?"l4":t>=1e4?"l3":t>=2e3?"l2":t>0?"l1":"l0"}var Qi=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Os(){let e=S.value,t=j(`shards/${e}`,5e3,s=>I("shards/list",
{namespace:e},s)),[r,a]=m(Gi);return n(Z,{title:"Shards",children:n(W,{of:t,children:({shards:s})=>{let o=s.filter(f=>!f.held).length,i=s.filter(f=>f.overdueFor),
c=Math.max(0,...i.map(f=>Qn(f.overdueFor??""))),d=new Map;for(let f of s)f.held&&d.set(f.node??"",(d.get(f.node??"")??0)+1);let u=Math.max(1,...d.values()),l=Et();
return n(v,{children:[n("div",{class:"tiles",children:[n(re,{label:"Shards",value:E(s.length),hint:e}),n(re,{label:"Without an owner",value:E(o),kind:o?"warn":"",
hint:o?"no scheduler runs, or one just ended":"all are owned"}),n(re,{label:"With overdue timers",value:E(i.length),kind:c>1e4?"warn":"",hint:c?`longest ${Je(c)}`:
"none"}),n(re,{label:"Nodes",value:E(d.size),hint:"that own shards"})]}),n("div",{class:"grid",children:[n(O,{title:"Lag",wide:!0,aside:n("div",{class:"legend",
children:Qi.map(([f,h])=>n("span",{children:[n("i",{class:`cell ${f}`}),h]},f))}),children:n("div",{class:"heat",role:"img","aria-label":`${le(s.length,"shard")}\
: ${o} without an owner, ${i.length} with overdue timers. The table below lists ${s.length>r?`the first ${r}`:"them"}.`,children:s.map(f=>n("i",{class:`cell ${Yi(
f)}`,title:`shard ${f.shard}, partition ${f.partition}, ${f.held?f.node:"no owner"}${f.overdueFor?`, overdue for ${f.overdueFor}`:""}`},f.shard))})}),n(O,{title:"\
Balance",wide:!0,children:d.size===0?n(J,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):n("ul",{class:"balan\
ce",children:[...d].sort(([f],[h])=>f<h?-1:1).map(([f,h])=>n("li",{children:[n("span",{class:"clip",children:f}),n("span",{class:"meter","aria-hidden":"true",children:n(
"span",{style:{width:`${h/u*100}%`}})}),n("span",{class:"num",children:le(h,"shard")})]},f))})}),n(O,{title:"Every shard",wide:!0,flush:!0,children:[n(ce,{caption:"\
Shards",head:["Shard","Partition","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:s.slice(0,r).map(f=>n("tr",{children:[n("td",{class:"\
num","data-label":"Shard",children:f.shard}),n("td",{class:"num","data-label":"Partition",children:f.partition}),n("td",{class:"clip","data-label":"Owner",children:f.
held?f.node:n(ie,{kind:"retrying",children:"none"})}),n("td",{"data-label":"Claimed",children:n(B,{at:f.claimedAt,only:"relative"})}),n("td",{"data-label":"Wate\
rmark",children:f.watermark?n("time",{dateTime:f.watermark,title:f.watermark,children:[Je(Math.max(0,l-Date.parse(f.watermark)))," behind"]}):n("span",{class:"m\
uted",children:"\u2013"})}),n("td",{"data-label":"Next due",children:n(B,{at:f.nextDueAt,only:"relative"})}),n("td",{class:"num","data-label":"Overdue for",children:f.
overdueFor??n("span",{class:"muted",children:"\u2013"})})]},f.shard))}),s.length>r&&n("div",{class:"pager",children:[n("span",{class:"muted",children:[r," of ",
E(s.length)]}),n(x,{onClick:()=>{a(r+500)},children:"Show more"})]})]})]})]})}})})}function Xi(){let e=K(new mt("dispatcher_callback_seconds_count")),t=S.value,r=j(`callbacks/${t}`,3e3,async a=>{let s=new ht(await tn(a)),o=e.current.add(s),i=c=>s.
quantile(c,"dispatcher_callback_seconds",o,{namespace:t});return{called:s.sum("dispatcher_hosts",{state:"called"}),queued:s.sum("dispatcher_hosts",{state:"queue\
d"}),open:s.sum("dispatcher_hosts",{state:"open"}),inFlight:s.sum("dispatcher_in_flight"),p50:i(.5),p99:i(.99),results:[...s.by("dispatcher_callbacks_total","re\
sult",{namespace:t})].filter(([,c])=>c>0)}});return n(W,{of:r,children:a=>a.called===void 0?n("p",{class:"callout",children:["This process delivers no timers, s\
o it knows no hosts. Dispatchers export their figures at ",n("code",{children:"/metrics"}),"."]}):n(v,{children:[n("div",{class:"tiles",children:[n(re,{label:"H\
osts called",value:E(a.called),hint:"with calls in flight"}),n(re,{label:"Hosts with a queue",value:E(a.queued??0),hint:"timers wait for a permit",kind:a.queued?
"warn":""}),n(re,{label:"Open circuits",value:E(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),n(re,{label:"In flight",value:E(a.inFlight??0),
hint:"deliveries of this process"}),n(re,{label:"Callback p50",value:Xe(a.p50),hint:`${t}, last minute`}),n(re,{label:"Callback p99",value:Xe(a.p99),hint:`${t},\
 last minute`})]}),a.results.length>0&&n(O,{title:`Answers of ${t} since the start of this process`,wide:!0,children:n("div",{class:"chips",children:a.results.map(
([s,o])=>n("span",{class:`chip ${s==="2xx"?"done":s==="3xx"?"":"dead"}`,children:[s," ",n("strong",{children:E(o)})]},s))})})]})})}function ec(){let e=S.value,t=j(
`targets/${e}`,3e3,r=>I("targets/list",{namespace:e,limit:200},r));return n(O,{title:"Hosts and user topics",flush:!0,wide:!0,children:n(W,{of:t,children:({delivers:r,
targets:a})=>r?a.length===0?n(J,{title:`No timer of ${e} has been delivered since the start of this process.`}):n(ce,{caption:"Hosts and user topics",head:["Tar\
get","Circuit","Running","Waiting","Concurrency"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Target",children:s.target}),n("t\
d",{"data-label":"Circuit",children:s.circuitOpen?n(ie,{kind:"dead",children:"open"}):n(ie,{kind:"done",children:"closed"})}),n("td",{class:"num","data-label":"\
Running",children:E(s.running)}),n("td",{class:"num","data-label":"Waiting",children:E(s.waiting)}),n("td",{class:"num","data-label":"Concurrency",children:E(s.
concurrency)})]},s.target))}):n(J,{title:"This process delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not sh\
are this state."})})})}function Ns(){let e=S.value,t=oe.value.query.get("after")??"",r=j(`flows/${e}/${t}`,3e3,a=>I("flows/list",{namespace:e,after:t||void 0,limit:100},
a));return n(Z,{title:"Targets",children:[ut("read")?n(Xi,{}):n("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),n(
ec,{}),n(O,{title:"Flow keys",flush:!0,wide:!0,children:n(W,{of:r,children:a=>n(v,{children:[a.flows.length===0?n(J,{title:`No flow of ${e} is in use.`,command:`\
timerbus namespace update ${e} --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):n(ce,{caption:"\
Flow keys",head:["Flow key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:a.flows.map(s=>n("tr",{children:[n("td",{class:"id","data-lab\
el":"Flow key",children:s.flowKey}),n("td",{"data-label":"Limit",children:s.limit?on(s.limit):"no pattern matches"}),n("td",{class:"num","data-label":"Running",
children:E(s.running)}),n("td",{class:"num","data-label":"Waiting",children:E(s.waiting)}),n("td",{class:"num","data-label":"Backlog",children:E(s.backlog)}),n(
"td",{class:"num","data-label":"Dispatchers",children:E(s.dispatchers)})]},s.flowKey))}),(a.next||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"\
pager-buttons",children:[t&&n("a",{class:"button",href:R(["targets"]),children:"First page"}),a.next&&n("a",{class:"button",href:R(["targets"],{after:a.next}),children:"\
Next page"})]})]})]})})})]})}function Ls({id:e}){let t=S.value,r=l=>l.timerId===e,a=j(`timer/${t}/${e}`,2e3,l=>I("timers/get",{namespace:t,id:e},l),!1,r),s=j(`history/${t}/${e}`,3e3,l=>I("t\
imers/history",{namespace:t,id:e,limit:200},l),!1,r),[o,i]=m(null),c=a.data,d=()=>{a.again(),s.again()},u=c&&ue("write",t)&&n(v,{children:[c.status==="dead"||c.
status==="parked"||c.status==="done"?n(x,{kind:"primary",onClick:()=>{i("retry")},children:"Retry\u2026"}):n(v,{children:[c.status!=="paused"&&n(x,{kind:"primar\
y",onClick:()=>{i("run")},children:"Run now\u2026"}),c.status==="paused"?n(x,{onClick:()=>{i("resume")},children:"Resume\u2026"}):n(x,{onClick:()=>{i("pause")},
children:"Pause\u2026"})]}),c.status!=="dead"&&c.status!=="done"&&n(v,{children:[n(x,{onClick:()=>{i("update")},children:"Update\u2026"}),n(x,{kind:"danger-ghos\
t",onClick:()=>{i("delete")},children:"Delete\u2026"})]})]});return n(Z,{title:e,crumb:n(v,{children:[n("a",{href:R(["timers"]),children:"Timers"})," / ",t]}),actions:u,
children:[n(W,{of:a,children:l=>n("div",{class:"grid",children:[n(tc,{of:l}),n(nc,{of:l}),n(O,{title:"Attempts",wide:!0,children:n(W,{of:s,children:({attempts:f})=>n(
rc,{attempts:f,of:l})})})]})}),a.error?.status===404&&n(J,{title:"This timer does not exist, or its history has expired.",children:n("a",{href:R(["timers"]),children:[
"All timers of ",t]})}),c&&o&&n(ac,{of:c,action:o,close:()=>{i(null)},after:d})]})}function tc({of:e}){let t=e.retryPolicy,r=e.status==="done"||e.status==="dead";
return n(O,{title:"State",aside:n(Ie,{status:e.status}),children:[e.lastError&&n("div",{class:"callout bad",children:[n("strong",{children:e.lastStatusCode?`HTT\
P ${e.lastStatusCode}`:"Last error"})," ",e.lastError]}),n(ln,{of:e.pause}),n($e,{of:[["Due",r?void 0:n(B,{at:e.dueAt})],["Execute at",n(B,{at:e.executeAt})],["\
Local time",e.executeAtLocal&&`${e.executeAtLocal.replace("T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&n(B,{at:e.executedAt})],["Attempts",`${e.attempts}\
 of ${t.maxAttempts}`],["Retry",`from ${ne(t.initialInterval)}, \xD7 ${JSON.stringify(t.backoffMultiplier)}, to ${ne(t.maxInterval)}`+(t.maxAttemptsDuration&&t.
maxAttemptsDuration!=="0s"?`, for ${ne(t.maxAttemptsDuration)}`:"")],["Window",e.window],["Expires",e.expiresAt&&n(B,{at:e.expiresAt})],["Flow key",e.flowKey&&n(
"code",{children:e.flowKey})],["On done",e.onDone&&n("code",{children:e.onDone})],["On dead",e.onDead&&n("code",{children:e.onDead})],["Correlation id",n("a",{href:R(
["timers"],{correlationId:e.correlationId}),children:n("code",{children:e.correlationId})})],["Created",n(B,{at:e.createdAt})],["Updated",n(B,{at:e.updatedAt})],
["Generation",n("code",{children:e.generation})],["UUID",n("code",{children:e.uuid})]]})]})}function nc({of:e}){let t=!ve.hidePayloads,r=n("p",{class:"muted",children:"\
Hidden by the settings of the server."});return n(O,{title:"Request",children:[n($e,{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POS\
T":void 0)],["URL",e.callbackUrl&&n("span",{class:"url",children:[n("code",{children:e.callbackUrl})," ",n(Xn,{text:e.callbackUrl})]})],["Topic",e.topic&&n("cod\
e",{children:e.topic})],["Key",e.key&&n("code",{children:e.key})],["Timeout",ne(e.callbackTimeout)],["Content type",e.request?.contentType]]}),e.headers&&Object.
keys(e.headers).length>0&&n(v,{children:[n("h3",{children:"Headers"}),t?n($e,{of:Object.entries(e.headers).map(([a,s])=>[a,n("code",{children:s})])}):r]}),n("h3",
{children:"Payload"}),t?e.payload!==void 0?n(dt,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?n(dt,{value:e.request.body,label:"Body"}):e.request?.
bodyBase64!==void 0?n(dt,{value:e.request.bodyBase64,label:"Body, base64"}):n("p",{class:"muted",children:e.status==="done"?"A done timer is shown without its p\
ayload.":"This timer has no payload."}):r]})}var Ds={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"dead",expired:"parked"};function rc({attempts:e,
of:t}){if(e.length===0)return n(J,{title:"No attempt has ended yet.",children:t.status==="scheduled"&&n(v,{children:["The first one begins ",n(B,{at:t.dueAt}),"\
."]})});let r=o=>Date.parse(o.finishedAt)-Date.parse(o.startedAt),a=Math.max(1,...e.map(r)),s=(o,i)=>{let c=e[i+1];return Date.parse(o.startedAt)-Date.parse(c?.
generation===o.generation&&c.nextAt?c.nextAt:o.executeAt)};return n("ol",{class:"timeline",children:e.map((o,i)=>n("li",{class:Ds[o.outcome],children:[n("div",{
class:"timeline-head",children:[n(ie,{kind:Ds[o.outcome],children:o.outcome}),n("strong",{children:["Attempt ",o.attempt]}),n(B,{at:o.startedAt}),n("span",{class:"\
muted",children:[Je(Math.max(0,s(o,i)))," late"]})]}),n("div",{class:"timeline-body",children:[n("span",{children:[t.callbackUrl?n(v,{children:[n("code",{children:t.
request?.method??"POST"})," \u2192 "]}):"published \u2192 ",o.statusCode?n("strong",{children:["HTTP ",o.statusCode]}):o.error?"no answer":"accepted"]}),n("span",
{class:"meter","aria-hidden":"true",children:n("span",{style:{width:`${Math.max(1,r(o)/a*100)}%`}})}),n("span",{class:"num",children:Je(r(o))})]}),o.error&&n("p",
{class:"timeline-error",children:o.error}),o.nextAt&&n("p",{class:"muted",children:["Next attempt: ",n(B,{at:o.nextAt})]})]},o.generation+o.attempt+o.startedAt))})}
function ac({of:e,action:t,close:r,after:a}){let[s]=m(e),[o,i]=m(""),[c,d]=m("deliver"),[u,l]=m(""),f={namespace:s.namespace,id:s.id,ifGeneration:s.generation},
h={close:r,after:a};switch(t){case"run":return n(fe,{...h,title:`Run ${s.id} now`,verb:"Run now",path:"timers/run-now",body:()=>f,done:`${s.id} runs now.`,children:n(
"p",{children:"The timer becomes due at once, as a new run of attempts."})});case"pause":return n(fe,{...h,title:`Pause ${s.id}`,verb:"Pause",path:"timers/pause",
body:()=>({...f,note:o||void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"A paused timer is not delivered until it is resumed."}),n(N,{label:"Note",
value:o,set:i,hint:"Why it is paused; shown to everyone who may read it."})]});case"resume":return n(fe,{...h,title:`Resume ${s.id}`,verb:"Resume",path:"timers/\
resume",body:()=>({...f,overdue:c}),done:`${s.id} is resumed.`,children:n(pe,{label:"If its time has passed",value:c,set:d,options:[["deliver","Deliver it now"],
["skip","Let it expire"]]})});case"retry":return n(fe,{...h,title:`Retry ${s.id}`,verb:"Retry",path:"timers/retry",body:()=>({...f,executeIn:u||void 0}),done:`${s.
id} is scheduled again.`,children:[n("p",{children:["The timer starts again at attempt 1",s.status==="done"&&". A done timer can be retried only if its namespac\
e keeps payloads","."]}),n(N,{label:"Delay",value:u,set:l,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return n(fe,{...h,title:`De\
lete ${s.id}`,verb:"Delete",danger:!0,path:"timers/delete",body:()=>f,done:`${s.id} is deleted.`,after:()=>{de(["timers"])},children:n("p",{children:"It is not \
delivered any more."})});default:return n(sc,{of:s,...h})}}function sc({of:e,close:t,after:r}){let a={at:qe(e.executeAt),url:e.callbackUrl??"",payload:e.payload===
void 0?"":JSON.stringify(e.payload,null,2)},[s,o]=m(a.at),[i,c]=m(a.url),[d,u]=m(a.payload),l=()=>{let f={};if(s!==a.at){let h=ye(s);if(!h)return"Enter the time\
 completely.";f.executeAt=h}if(i!==a.url&&(f.callbackUrl=i||null),d!==a.payload){let{value:h,error:p}=Rt(d);if(p)return p;f.payload=h??null}return Object.keys(f).
length===0?"Nothing has changed.":{namespace:e.namespace,id:e.id,ifGeneration:e.generation,...f}};return n(fe,{title:`Update ${e.id}`,verb:"Save",path:"timers/u\
pdate",body:l,done:`${e.id} is updated.`,close:t,after:r,children:[n(N,{label:`Time (${Ee()})`,type:"datetime-local",step:"1",value:s,set:o}),n(N,{label:"Callba\
ck URL",value:i,set:c,mono:!0}),ve.hidePayloads?n("p",{class:"muted",children:"Payloads are hidden by the settings of the server."}):n(Nt,{label:"Payload (JSON)",
value:d,set:u,rows:8}),n("p",{class:"hint",children:"Only changed fields are sent. The update starts again at attempt 1, and fails if the timer has changed sinc\
e."})]})}var Sr=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function oc(){let[e="overview",t,r]=oe.value.path,a=`${e}/${S.value}/${t??""}`;if(!Ce.value&&(e==="overview"||e==="targe\
ts"||An.value))return n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return n(Pa,{},a);case"\
timers":return t===void 0?n(Oa,{},a):n(Ls,{id:t},a);case"dead":return n(Da,{},a);case"schedules":return t===void 0?n(Ia,{},a):n(Ua,{id:t},a);case"namespaces":return t===
void 0?n(za,{}):n(Ka,{name:t},t);case"targets":return n(Ns,{},a);case"shards":return n(Os,{},a);case"new":return t==="schedule"?n(Wa,{},a):n(qa,{},a+(r??""));default:
return n(Z,{title:"Not found",children:n(J,{title:"There is no such page.",children:n("a",{href:R(["overview"]),children:"Overview"})})})}}function ic({reason:e}){
let[t,r]=m(""),[a,s]=m(),[o,i]=m(!1);te(()=>{document.title="Sign in \xB7 Timerbus";let u=l=>{l.persisted&&i(!1)};return addEventListener("pageshow",u),()=>{removeEventListener(
"pageshow",u)}},[]);let c=async()=>{Ut.value="",i(!0),s(void 0);try{await Ps()}catch(u){s(new me(0,"SIGN_IN_FAILED",u.message)),i(!1)}},d=async()=>{let u=De.value;
Ut.value="",i(!0),s(void 0),ct(t.trim());try{await Pt()}catch(l){ct(u),s(se(l))}i(!1)};return n("main",{class:"sign-in",children:n("form",{class:"card",onSubmit:u=>{
u.preventDefault(),d()},children:[n("h1",{children:[n(Tr,{})," Timerbus"]}),We&&n(v,{children:[n("button",{type:"button",class:"button primary block",disabled:o,
onClick:()=>{c()},children:["Sign in with ",We]}),Ut.value&&!a&&n("div",{class:"error",role:"alert",children:n("p",{children:Ut.value})})]}),n("p",{children:[We?
"Or use":"Sign in with"," the token of the service, the token of an API key, or a token of the identity provider."]}),a?n(_e,{error:a}):De.value&&n("div",{class:"\
error",role:"alert",children:n("p",{children:e})}),n("div",{class:"field",children:[n("label",{for:"token",children:"Token"}),n("input",{id:"token",type:"passwo\
rd",value:t,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:u=>{r(u.currentTarget.value)}}),n("p",{class:"hint",id:"token-hint",children:[
"It stays in this tab until the tab is closed. Create a key for reading with",n("code",{children:" timerbus key create ui --grant read@*"}),"."]})]}),n("button",
{type:"submit",class:`button block${We?"":" primary"}`,disabled:o,children:o?"Checking\u2026":"Sign in"})]})})}var Tr=()=>n("svg",{class:"mark",viewBox:"0 0 32 \
32","aria-hidden":"true",children:[n("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),n("circle",{cx:"16",cy:"16",r:"9",class:"mark-line"}),n("path",{d:"\
M16 10.5V16l4 2.6",class:"mark-line"})]});function cc({close:e}){return n(et,{title:"Keyboard",close:e,children:[n("dl",{class:"facts keys",children:[Sr.map(([,
t,r])=>n("div",{children:[n("dt",{children:[n("kbd",{children:"g"})," ",n("kbd",{children:r})]}),n("dd",{children:t})]},r)),n("div",{children:[n("dt",{children:n(
"kbd",{children:"c"})}),n("dd",{children:"Create a timer"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"/"})}),n("dd",{children:"Search or filter"})]}),
n("div",{children:[n("dt",{children:n("kbd",{children:"l"})}),n("dd",{children:"Live updates on or off"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"\
?"})}),n("dd",{children:"This list"})]})]}),n("label",{class:"check",children:[n("input",{type:"checkbox",checked:sn.value==="on",onChange:t=>{sn.value=t.currentTarget.
checked?"on":"off"}}),"Use these keys"]})]})}var xr=0;function uc(e){te(()=>{let t=r=>{let a=r.target;if(r.ctrlKey||r.metaKey||r.altKey||a.closest("input, texta\
rea, select, [contenteditable]")||document.querySelector("dialog[open]"))return;if(r.key==="?"){e();return}if(sn.value==="off")return;let s=Date.now()-xr<1500;if(xr=
0,s){let o=Sr.find(([,,i])=>i===r.key);o&&de([o[0]])}else if(r.key==="g")xr=Date.now();else if(r.key==="c")de(["new","timer"]);else if(r.key==="l")Ae.value=Ae.value===
"on"?"off":"on";else if(r.key==="/"){let o=document.querySelector("[data-search]");o&&(r.preventDefault(),o.focus())}};return addEventListener("keydown",t),()=>{
removeEventListener("keydown",t)}},[])}function lc(){let[e,t]=m(!1),r={no:"Live updates by polling",some:"Live updates by events of one process, and by polling",
all:"Live updates by events"},[a,s]=m(!1);uc(()=>{s(!0)}),te(()=>{let u=new AbortController;return Ce.value&&rn(u.signal).catch(()=>{}),()=>{u.abort()}},[Ce.value?.
name]);let[o="overview"]=oe.value.path;te(()=>{t(!1)},[oe.value]);let i=[...new Set([S.value,...nn.value.map(u=>u.name)])].sort(),c=u=>{oe.value.path.length>1&&
o!=="new"?de([o],{ns:u}):we({ns:u})};return n(v,{children:[n("button",{type:"button",class:"skip",onClick:()=>{document.querySelector("#main h1")?.focus()},children:"\
Skip to the content"}),n("header",{children:[n(x,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{t(!e)},children:"\u2630"}),
n("a",{class:"brand","aria-label":"Timerbus, overview",href:R(["overview"]),children:[n(Tr,{}),n("span",{children:"Timerbus"})]}),n("label",{class:"sr",for:"ns",
children:"Namespace"}),n("select",{id:"ns",class:"namespace",value:S.value,onChange:u=>{c(u.currentTarget.value)},children:i.map(u=>n("option",{value:u,selected:u===
S.value,children:u},u))}),n("div",{class:"spacer"}),ve.readOnly&&n("span",{class:"badge paused",children:"read-only"}),n("div",{class:`prefs${e?" open":""}`,children:[
n("label",{class:"sr",for:"zone",children:"Time zone"}),n("select",{id:"zone",value:Se.value,onChange:u=>{Se.value=u.currentTarget.value},children:[n("option",{
value:"local",selected:Se.value==="local",children:"Local time"}),n("option",{value:"utc",selected:Se.value==="utc",children:"UTC"}),n("option",{value:"schedule",
selected:Se.value==="schedule",children:["Schedule",Le.value?` (${Le.value})`:"\u2019s zone"]})]}),n(x,{kind:"ghost live","aria-pressed":Ae.value==="on",title:r[Ue.
value],onClick:()=>{Ae.value=Ae.value==="on"?"off":"on"},children:[n("span",{class:"dot"}),"Live"]}),n("label",{class:"sr",for:"theme",children:"Colours"}),n("s\
elect",{id:"theme",value:Fe.value,onChange:u=>{Fe.value=u.currentTarget.value},children:[n("option",{value:"auto",selected:Fe.value==="auto",children:"Auto"}),n(
"option",{value:"light",selected:Fe.value==="light",children:"Light"}),n("option",{value:"dark",selected:Fe.value==="dark",children:"Dark"})]})]})]}),n("div",{class:"\
frame",children:[n("nav",{id:"nav","aria-label":"Pages",class:e?"open":"",children:[n("ul",{children:Sr.map(([u,l])=>n("li",{children:n("a",{href:R([u]),"aria-c\
urrent":o===u?"page":void 0,children:l})},u))}),n("div",{class:"nav-foot",children:[n("div",{children:Ce.value?.name==="anyone"?"no credential required":Ce.value?.
name}),De.value&&n(x,{kind:"small",onClick:()=>{ct(""),Ce.value=null,nn.value=[],He.value=""},children:"Sign out"}),n(x,{kind:"small",onClick:()=>{s(!0)},children:"\
Keyboard"}),n("div",{class:"version",children:[ve.version," \xB7 ",n("a",{href:"licenses.txt",children:"licences"})]})]})]}),n("main",{id:"main",children:n(oc,{})})]}),
n("div",{class:"notices",role:"status","aria-live":"polite",children:lt.value.map(u=>n("div",{class:`notice ${u.kind}`,children:[u.text,n(x,{kind:"icon","aria-l\
abel":"Dismiss",onClick:()=>{Gn(u.id)},children:"\u2715"})]},u.id))}),a&&n(cc,{close:()=>{s(!1)}})]})}var Ut=V(""),An=V(Es()),dc=An.value?$s().catch(e=>{Ut.value=
e.message}).then(()=>(An.value=!1,Pt())):Pt();function pc(){let[e,t]=m(),r=(a=Pt())=>{t(void 0),a.catch(s=>{let o=se(s);o.status!==401&&t(o)})};return Wt(()=>{r(
dc)},[]),He.value!==null?n(ic,{reason:He.value}):e?n("main",{class:"sign-in",children:n("div",{class:"card",children:[n("h1",{children:[n(Tr,{})," Timerbus"]}),
n(_e,{error:e,again:()=>{r()}})]})}):n(lc,{})}var Is=()=>{Br(n(pc,{}),document.getElementById("app"))},[fc,hc]=oe.value.path;fc==="timers"&&hc===void 0&&!An.value?
ia("timers/list",$a(),Is):Is();
